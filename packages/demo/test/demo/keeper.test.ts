import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock as clock } from '../../../../src/lib/clock.ts'
import { startBot } from '../../src/demo/bot.ts'
import { DEATHS_MAX, DEATHS_WINDOW_MS, isTooOften, keepBot } from '../../src/demo/keeper.ts'
import { settingsWith, testFolder, until } from '../../../../test/support/app.ts'

/** The longest that one process may take to be there on a busy machine. */
const START_MAX_MS = 60_000

/** The real bot, kept; `later` is laid over the settings of each process but the first. */
async function keep(later: Record<string, string> = {}) {
  const folder = testFolder()
  const settings = settingsWith(folder) as Record<string, string>
  const lines: string[] = []
  const pids: (number | undefined)[] = []
  const start = (port: number) => {
    const more = pids.length === 0 ? {} : later
    const bot = startBot({ ...settings, PORT: String(port), ...more }, join(folder, 'bot.log'))
    pids.push(bot.pid)
    return bot
  }
  const bot = await keepBot({ start, clock, tell: (line) => lines.push(line) })
  onTestFinished(() => void bot.stop())
  return { bot, lines, pids }
}

const isUp = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  )

describe('a kept bot', { timeout: START_MAX_MS * 4 }, () => {
  it.each([
    ['SIGKILL', 'SIGKILL'],
    ['SIGTERM', 'exit code 0'],
    ['SIGABRT', 'SIGABRT'],
  ] as const)(
    'is another process at the same port after a %s from anywhere, and one line says so',
    async (signal, how) => {
      const { bot, lines, pids } = await keep()
      const { port, pid } = bot
      process.kill(pid!, signal)
      await until('it has come back', async () => lines.length > 0 && (await isUp(port)), START_MAX_MS)
      expect([bot.port, pids]).toEqual([port, [pid, bot.pid]])
      expect(bot.pid).not.toBe(pid)
      expect(lines).toEqual([`The bot (pid ${pid}) was ended by ${how}; it is started again as pid ${bot.pid}.`])
    },
  )

  it('stays down while its plug is pulled, and is another process at the same port when it is in again', async () => {
    const { bot, lines, pids } = await keep()
    const { port, pid } = bot
    expect([bot.state, bot.starts]).toEqual(['running', 1])
    bot.pull()
    await until('it is down', async () => bot.state === 'unplugged' && !(await isUp(port)), START_MAX_MS)
    expect([pids.length, lines]).toEqual([
      1,
      [`The plug was pulled: the bot (pid ${pid}) is down until it is started again.`],
    ])
    bot.pull()
    bot.plugIn()
    bot.plugIn()
    await until('it has come back', async () => bot.state === 'running' && (await isUp(port)), START_MAX_MS)
    expect([bot.port, bot.starts, pids.length]).toEqual([port, 2, 2])
    expect(bot.pid).not.toBe(pid)
  })

  it('comes back when the plug is in again before its end was heard of', async () => {
    const { bot, pids } = await keep()
    const { port, pid } = bot
    bot.pull()
    bot.plugIn()
    await until(
      'it has come back',
      async () => bot.pid !== pid && bot.state === 'running' && (await isUp(port)),
      START_MAX_MS,
    )
    expect(pids).toHaveLength(2)
  })

  it('is stopped well while its plug is pulled, and does not come back after that', async () => {
    const { bot, pids } = await keep()
    bot.pull()
    expect(await bot.stop()).toBe(0)
    bot.plugIn()
    expect([bot.state, await isUp(bot.port), pids.length]).toEqual(['gone', false, 1])
  })

  it('stays down once it is stopped', async () => {
    const { bot, lines, pids } = await keep()
    expect(await bot.stop()).toBe(0)
    expect(await bot.stop()).toBe(0)
    expect(await isUp(bot.port)).toBe(false)
    expect([lines, pids.length]).toEqual([[], 1])
  })

  it('is given up, with the reason, when it does not get up any more', async () => {
    const { bot, lines, pids } = await keep({ SLACK_BOT_TOKEN: '' })
    process.kill(bot.pid!, 'SIGKILL')
    expect(await bot.givenUp).toBe('The bot ended 5 times within a minute, the last time by exit code 78.')
    expect([lines.length, pids.length]).toEqual([DEATHS_MAX - 1, DEATHS_MAX])
    expect(await bot.stop()).toBe(78)
  })
})

describe('a bot dies too often', () => {
  const atEnds = (count: number, lastMs: number) => [...Array.from({ length: count - 1 }, () => 1_000), 1_000 + lastMs]

  it.each([
    ['the last death of so many is a moment within the window', atEnds(DEATHS_MAX, DEATHS_WINDOW_MS - 1), true],
    ['it is at its end', atEnds(DEATHS_MAX, DEATHS_WINDOW_MS), false],
    ['there is one death fewer', atEnds(DEATHS_MAX - 1, 0), false],
    ['older deaths lie before them', [0, 0, 0, 0, ...atEnds(DEATHS_MAX, DEATHS_WINDOW_MS)], false],
  ])('%s', (_, deaths, is) => {
    expect(isTooOften(deaths)).toBe(is)
  })
})
