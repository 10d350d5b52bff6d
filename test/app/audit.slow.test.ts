import { describe, expect, it } from 'vitest'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { runProgram } from '../../packages/build-steps/test/support.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { until, WEBHOOK_SECRET } from '../support/app.ts'
import { openWorld, press, pushRed, type, untilAnswered, untilCard, untilThread } from '../support/world.ts'
import { writesTo, type World } from '../support/world.ts'

const { builds: BUILDS } = CHANNELS
const { ada, grace, lin, gus } = PEOPLE

/** Runs `buildline audit` as an operator does, in this process. */
async function audit({ settings }: World, ...flags: string[]): Promise<string> {
  const env = { DATABASE_URL: settings['DATABASE_URL'] }
  const { code, stdout } = await runProgram('buildline', ['audit', ...flags], { env })
  expect(code).toBe(0)
  return stdout
}

const entriesOf = (output: string): Record<string, unknown>[] =>
  output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** Secrets that neither log nor audit may contain. */
function canariesOf({ ci, slack }: World): string[] {
  const { apiKey, authorization } = ci.address()
  const { botToken, appToken, signingSecret } = slack
  return [apiKey, authorization.replace('Bearer ', ''), botToken, appToken, signingSecret, WEBHOOK_SECRET]
}

const leaks = (output: string, canaries: readonly string[]): string[] =>
  canaries.filter((secret) => output.includes(secret) || output.includes(encodeURIComponent(secret)))

/** A stop by button, a restart by command, one of each that CI refuses, and one with an unknown outcome. */
async function actInEveryWay(world: World): Promise<void> {
  const { ci } = world
  ci.push('acme/web', { outcome: 'none' })
  await pushRed(world, 'acme/api')
  const running = await untilCard(world, ['Running', 'acme/web'], ACTION_IDS.stop)
  const failed = await untilCard(world, ['Failed', 'acme/api'], ACTION_IDS.restart)
  await press(world, gus, running, ACTION_IDS.stop)
  await untilAnswered(world, gus, ['Not allowed'])
  ci.addFault({ kind: 'status', statusCode: 403, where: 'v2', times: 1 })
  await press(world, lin, running, ACTION_IDS.stop)
  await untilAnswered(world, lin, ['Not stopped'])
  ci.addFault({ kind: 'status', statusCode: 400, where: 'legacy', method: 'POST', times: 1 })
  await world.slack.people.mentionBot({ user: lin, channel: BUILDS, text: 'restart', threadTs: failed.ts })
  await untilAnswered(world, lin, ['Not restarted'])
  await press(world, ada, running, ACTION_IDS.stop)
  await untilCard(world, ['Stopped', 'acme/web'])
  await type(world, grace, '/ci restart acme/api main')
  await untilThread(world, failed, `Restart requested by <@${grace}>`, 'attempt 2')
}

describe('the audit', () => {
  it('has one row for each call that should change a build, and no secret; neither has the log', async () => {
    const world = await openWorld({ settings: { LOG_LEVEL: 'trace' } })
    await actInEveryWay(world)
    const ended = async () => entriesOf(await audit(world)).every(({ result }) => result !== 'accepted')
    await until('every request has ended', ended)
    const output = await audit(world)
    const entries = entriesOf(output)
    expect(entries).toMatchObject([
      { action: 'stop', by: lin, via: 'button', result: 'refused', code: 'forbidden', buildId: '501', channel: BUILDS },
      { action: 'restart', by: lin, via: 'mention', result: 'refused', code: 'bad-request', buildId: '502' },
      { action: 'stop', by: ada, via: 'button', result: 'confirmed', code: null, project: 'acme/web', branch: 'main' },
      { action: 'restart', by: grace, via: 'command', result: 'confirmed', project: 'acme/api', newBuildId: '502' },
    ])
    const written = [...writesTo(world.ci, 'stop'), ...writesTo(world.ci, 'restart')].sort((a, b) => a.n - b.n)
    expect(written.map(({ path, statusCode }) => [/stop|restart/.exec(path)?.[0], statusCode])).toEqual([
      ['stop', 403],
      ['restart', 400],
      ['stop', 202],
      ['restart', 200],
    ])
    expect(leaks(output, canariesOf(world))).toEqual([])
    await world.app.stop()
    expect(world.app.lines.length).toBeGreaterThan(10)
    expect(leaks(world.app.lines.join(''), canariesOf(world))).toEqual([])
  })

  it('is empty without requests, and can begin at a given day', async () => {
    const world = await openWorld()
    world.ci.push('acme/web', { outcome: 'none' })
    const card = await untilCard(world, ['Running'], ACTION_IDS.stop)
    expect(await audit(world)).toBe('')
    await press(world, ada, card, ACTION_IDS.stop)
    await untilAnswered(world, ada, ['Stop requested'])
    const tomorrow = new Date(Date.now() + 24 * 60 * 60_000).toISOString().slice(0, 10)
    expect([entriesOf(await audit(world)).length, await audit(world, '--since', tomorrow)]).toEqual([1, ''])
  })

  it('escapes control and bidi characters of outside text, so that they cannot change the terminal', async () => {
    const world = await openWorld({ settings: { LOG_LEVEL: 'trace' } })
    const branch = 'a\u{1b}]0;x\u{7}\u{202e}\u{200b}\u{9b}2Jb'
    world.ci.push('acme/web', { outcome: 'none', branch })
    const card = await untilCard(world, ['Running'], ACTION_IDS.stop)
    await press(world, ada, card, ACTION_IDS.stop)
    await untilAnswered(world, ada, ['Stop requested'])
    const output = await audit(world)
    expect(entriesOf(output)).toMatchObject([{ branch }])
    expect(output).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
    expect(world.app.lines.join('')).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
  })

  it('would be found to contain a secret', () => {
    expect(leaks('{"reason":"a%20b"}', ['a b', 'c'])).toEqual(['a b'])
  })
})
