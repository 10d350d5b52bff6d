import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readGroups } from '../../src/gallery/entries.ts'
import { GOLDEN } from '../../src/gallery/site.ts'

const entries = readGroups(GOLDEN).flatMap((group) => group.entries)

describe('the gallery', () => {
  it('holds every golden file', () => {
    const files = readdirSync(GOLDEN, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'))
    const names = files.map((file) => file.replace(/\.json$/, '').replace(/^(?!\w+\/)/, 'messages/'))
    const shown = new Set(entries.map(({ id }) => id.replace(/\/\d+$/, '')))
    expect(names.filter((name) => !shown.has(name))).toEqual([])
    expect(shown.size).toBe(names.length)
  })

  it('opens on a red card that says what failed', () => {
    expect(entries[0]).toMatchObject({ name: 'card-tests' })
    expect(JSON.stringify(entries[0])).toMatch(/\d+ of \d+ tests failed/)
  })

  it('says of each entry when it appears, in a sentence', () => {
    const sentence = /^[A-Z/].{9,}[.]$/s
    expect(entries.filter(({ when }) => !sentence.test(when)).map(({ id, when }) => `${id}: ${when}`)).toEqual([])
  })

  it('calls no two entries the same, and has for each what is read aloud', () => {
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length)
    expect(entries.filter(({ reading }) => reading.join('').trim() === '').map(({ id }) => id)).toEqual([])
  })

  it.each([
    'card-failed.json',
    'answers/list-projects.json',
    'modals/subscribe-new.json',
    'home/empty.json',
    'said/alarm-v2.json',
  ])('is not made of a golden file without a sentence: %s', (file) => {
    const folder = mkdtempSync(join(tmpdir(), 'golden-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    cpSync(GOLDEN, folder, { recursive: true })
    const path = join(folder, file)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/"when": "(?:[^"\\]|\\.)*"/g, '"when": ""'))
    expect(() => readGroups(folder)).toThrow('says in `when` when it appears')
  })

  it('reads a form in its order: title, labels with what they hold, hints, what is wrong, buttons', () => {
    const form = entries.find(({ id }) => id === 'modals/project-reset-errors')
    expect(form?.reading).toEqual([
      'Reset an AES key',
      expect.stringContaining('*acme/web* gets a new AES key'),
      "Type the project's name to confirm: text, empty",
      "Wrong: this is not the project's name: type it as it is written above",
      '[Reset] [Cancel]',
    ])
  })

  it('has what stands in the fields of a form at first', () => {
    const form = entries.find(({ id }) => id === 'modals/subscribe-change')
    expect(form).toMatchObject({ values: { subscribe_branch: { subscribe_branch: { value: 'release/*' } } } })
  })
})
