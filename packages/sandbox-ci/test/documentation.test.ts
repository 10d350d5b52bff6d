import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { OUTCOMES } from '../src/state.ts'
import { defaultSwitches } from '../src/switches.ts'
import { control, startCi } from './support.ts'

const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

it.each(Object.keys(defaultSwitches()))('the README describes the switch %s', (name) => {
  expect(text).toContain(`\`${name}\``)
})

it.each(OUTCOMES)('the README describes the outcome %s', (outcome) => {
  expect(text).toContain(`\`${outcome}\``)
})

it('the README describes every control call', async () => {
  const { json } = await control(await startCi(), 'GET', '')
  const calls = z.object({ control: z.array(z.string()) }).parse(json).control
  const paths = calls.map((call) => call.split(' ')[1]!.replace(':project', ':name'))
  // The README shortens a second path in a row: `POST /sandbox/builds/:build/stop` · `/approve`.
  const missing = paths.filter((path) => !text.includes(path) && !text.includes(`\`/${path.split('/').at(-1)}\``))
  expect(missing).toEqual([])
})
