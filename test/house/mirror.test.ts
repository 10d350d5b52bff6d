import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT, readSources } from './imports.ts'
import { roomOf } from './floors.ts'

const sources = readSources()
const rooms = new Set([...sources.keys()].map(roomOf))

/** `features/builds/action.stop.slow.test.ts` tests `features/builds/action.ts`. */
const TESTED = /^(.*\/[\w-]+?)(?:\.[\w-]+)*\.test\.ts$/

test("a test of a room of src is at its file's path; the other folders of test/ are suites with a name of their own", () => {
  const tests = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.test.ts') && rooms.has(roomOf(file)) && roomOf(file) !== 'app',
  )
  expect(tests.length).toBeGreaterThan(100)
  expect(tests.filter((file) => !sources.has(`${TESTED.exec(file)?.[1]}.ts`))).toEqual([])
})
