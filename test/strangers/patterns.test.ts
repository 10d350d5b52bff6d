import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMPILED_MAX, matchBranch, REGEXES_SIZE_MAX } from '../../src/domain/rules/pattern.ts'
import { WEB } from '../app/channel.ts'
import { buildOf, delivery, openFolder, send, settled } from '../support/app.ts'
import { residentMB, startBot, type Bot } from './bot.ts'

const PATTERN = fileURLToPath(new URL('../../src/domain/rules/pattern.ts', import.meta.url))

/** The memory in MB that stays in use after the first ten of these patterns, and after two hundred. */
function takenBy(pattern: string): { ten: number; all: number } {
  const script = `
    const { matchBranch } = await import(${JSON.stringify(PATTERN)})
    const taken = () => { gc(); return process.memoryUsage().heapUsed / 2 ** 20 }
    const match = (from, to) => { for (let n = from; n < to; n++) matchBranch(${JSON.stringify(pattern)} + n, 'regex', 'b') }
    match(0, 1)
    const before = taken()
    match(1, 11)
    const ten = taken() - before
    match(11, 200)
    console.log(JSON.stringify({ ten, all: taken() - before }))`
  const args = ['--expose-gc', '--input-type=module', '-e', script]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as { ten: number; all: number }
}

describe('patterns from strangers', () => {
  it(`stay compiled up to ${REGEXES_SIZE_MAX} instructions in total: two hundred of the worst need little more memory than ten`, () => {
    const { ten, all } = takenBy('(.*a){120}c')
    expect(ten).toBeGreaterThan(0.5)
    expect(all).toBeLessThan(4 * ten)
  })

  it(`match correctly even if more than ${COMPILED_MAX}, or larger ones, come in turn`, () => {
    const large = (n: number) => `(?:${'x'.repeat(600)}|v)${n}`
    for (const round of [1, 2])
      for (let n = 0; n < 40; n++) {
        expect(matchBranch(large(n), 'regex', `v${n}`), `round ${round}`).toBe('matched')
        expect(matchBranch(large(n), 'regex', `v${n + 1}`), `round ${round}`).toBe('not-matched')
      }
  })
})

const BOMBS = ['(a+)+$', '(a|aa)+$', '(a|a?)+$', '(.*a){100}', '(a*)*b', '([a-z]+)*1', '(x+x+)+y', '.{0,300}z']

describe('a bot with such patterns in its rules', () => {
  let bot: Bot
  const { folder, remove } = openFolder()
  beforeAll(async () => {
    const subscriptions = BOMBS.map((branch) => ({ channel: WEB, project: 'all', branch, branch_match: 'regex' }))
    const file = join(folder, 'subscriptions.yml')
    // JSON is valid YAML.
    writeFileSync(file, JSON.stringify({ subscriptions }))
    bot = await startBot({ SUBSCRIPTIONS_FILE: file })
  })
  afterAll(async () => {
    await bot.stop()
    remove()
  })

  it('accepts builds of the branches that the patterns were made for, and needs little more memory', async () => {
    const before = residentMB(bot.pid)
    for (let n = 0; n < 20; n++) {
      const branch = `${'a'.repeat(980)}!${n}`
      expect((await send(bot.url, delivery(buildOf(n + 1, { branch, status: 'error' })))).status).toBe(202)
    }
    await settled(bot.url)
    expect((await fetch(`${bot.url}/healthz`)).status).toBe(200)
    expect(residentMB(bot.pid) - before).toBeLessThan(64)
  })
})
