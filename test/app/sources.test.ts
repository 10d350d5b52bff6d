import { describe, expect, test } from 'vitest'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { ACTION_IDS, CHOICE_ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { WRONG_MAX } from '../../src/sources/webhook-route.ts'
import { openStage, rowsOf, settled, until, type Settings, type Stage } from '../support/app.ts'
import { cards, failed, openPlayed, SOURCES } from '../support/sources.ts'
import { cardIn, press, threadOf, type, untilAnswered, untilCard } from '../support/world.ts'

// What every source of builds must do, whatever its service.

/** Without polling, which would have the same result as deliveries. */
const WITHOUT_POLLING: Settings = { GITHUB_REPOSITORIES: undefined, GITLAB_PROJECTS: undefined }

const kept = ({ folder }: Stage): number => rowsOf(folder, 'select 1 from delivery').length

describe.each(Object.keys(SOURCES) as (keyof typeof SOURCES)[])('%s', (name) => {
  const play = SOURCES[name]

  test('a delivery with a wrong secret is refused, and nothing is stored', async () => {
    const stage = await openPlayed(play, WITHOUT_POLLING)
    stage.source.deliverTo(null)
    stage.source.push()
    const [body = '{}'] = (await stage.source.sent()).length > 0 ? await stage.source.sent() : ['{}']
    const { status, text } = await stage.source.send(stage.app.url, body, 'of nobody')
    expect([401, 404]).toContain(status)
    expect(text).toMatch(/the secret or signature is missing or wrong|not found/)
    expect(kept(stage)).toBe(0)
  })

  test(`more than ${WRONG_MAX} wrong secrets in a minute are answered 429, and a right one is still accepted`, async () => {
    const first = await openPlayed(play, WITHOUT_POLLING)
    await failed(first)
    const [body = ''] = await first.source.sent()
    const stage = await openPlayed(play, WITHOUT_POLLING)
    const wrong = Array.from({ length: WRONG_MAX + 1 }, () => stage.source.send(stage.app.url, body, 'of nobody'))
    const answers = await Promise.all(wrong)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1)
    expect(new Set(answers.filter(({ status }) => status !== 429).map(({ text }) => text)).size).toBe(1)
    expect((await stage.source.send(stage.app.url, body)).status).toBe(202)
    expect((await stage.source.send(stage.app.url, body, 'of nobody')).status).toBe(429)
  })

  test('a body beyond its limit is answered 413, one that is not JSON 400, and nothing is stored', async () => {
    const stage = await openPlayed(play, WITHOUT_POLLING)
    const limit = { ci: 256, github: 1_024, gitlab: 2_048 }[name] * 1_024
    expect((await stage.source.send(stage.app.url, ' '.repeat(limit + 1))).status).toBe(413)
    expect((await stage.source.send(stage.app.url, ' '.repeat(limit))).status).toBe(400)
    expect(kept(stage)).toBe(0)
  })

  test('a delivery that names no build is refused, and nothing is stored', async () => {
    const stage = await openPlayed(play, WITHOUT_POLLING)
    for (const body of ['{}', '[]', 'no JSON', '{"build":{}}'])
      expect(await stage.source.send(stage.app.url, body)).toMatchObject({ status: 400 })
    expect(kept(stage)).toBe(0)
  })

  test('a delivery that arrives twice is one card with the right status', async () => {
    const first = await openPlayed(play, WITHOUT_POLLING)
    const { number } = await failed(first)
    const bodies = await first.source.sent()
    expect(bodies.length).toBeGreaterThan(1)
    const stage = await openPlayed(play, WITHOUT_POLLING)
    for (const body of bodies.flatMap((one) => [one, one]))
      expect(await stage.source.send(stage.app.url, body)).toMatchObject({ status: 202 })
    await settled(stage.app.url)
    expect(cards(stage)).toHaveLength(1)
    expect(cardIn(stage.slack, CHANNELS.builds, 'Failed', number)).toBeDefined()
  })

  test('an end that is delivered before the start is not undone by it', async () => {
    const first = await openPlayed(play, WITHOUT_POLLING)
    const { number } = await failed(first)
    const bodies = await first.source.sent()
    const stage = await openPlayed(play, WITHOUT_POLLING)
    for (const body of bodies.toReversed()) await stage.source.send(stage.app.url, body)
    await settled(stage.app.url)
    expect(cards(stage)).toHaveLength(1)
    expect(cardIn(stage.slack, CHANNELS.builds, 'Failed', number)).toBeDefined()
  })

  test('Restart makes the next attempt on the same card, and is sent once, whoever clicks', async () => {
    const stage = await openPlayed(play, WITHOUT_POLLING)
    const { card } = await failed(stage)
    await Promise.all([
      press(stage, PEOPLE.ada, card, ACTION_IDS.restart),
      press(stage, PEOPLE.lin, card, ACTION_IDS.restart),
    ])
    await untilCard(stage, ['attempt 2', 'acme/web'])
    await settled(stage.app.url)
    expect(stage.source.asked()).toEqual(['restart'])
    expect(cards(stage)).toHaveLength(1)
    expect(threadOf(stage, card).filter((line) => line.includes('Restart requested'))).toHaveLength(1)
  })

  test('a restart whose answer is lost is not sent again', async () => {
    const stage = await openPlayed(play, WITHOUT_POLLING)
    const { card } = await failed(stage)
    stage.source.failNext()
    await press(stage, PEOPLE.ada, card, ACTION_IDS.restart)
    await until('it was asked for', () => stage.source.asked().length > 0)
    await settled(stage.app.url)
    expect(stage.source.asked()).toEqual(['restart'])
  })

  test('Stop is sent once, and the card says so', async () => {
    const stage = await openPlayed(play, WITHOUT_POLLING)
    const { card } = await failed(stage)
    await press(stage, PEOPLE.ada, card, ACTION_IDS.restart)
    const running = await untilCard(stage, ['attempt 2', 'acme/web'], ACTION_IDS.stop)
    await Promise.all([
      press(stage, PEOPLE.ada, running, ACTION_IDS.stop),
      press(stage, PEOPLE.lin, running, ACTION_IDS.stop),
    ])
    await untilCard(stage, ['Stopped', 'acme/web'])
    expect(stage.source.asked()).toEqual(['restart', 'stop'])
  })

  test('a command finds a build that was not delivered', async () => {
    const stage = await openPlayed(play, WITHOUT_POLLING)
    await failed(stage)
    stage.source.deliverTo(null)
    const number = stage.source.push('topic')
    stage.source.end(number, 'passed')
    await type(stage, PEOPLE.ada, '/ci status acme/web@topic')
    await untilAnswered(stage, PEOPLE.ada, ['Passed', 'topic', number])
  })

  test('builds from before the first look are known to commands, and not shown in channels', async () => {
    const source = await play()
    const number = source.push()
    source.end(number, 'failed')
    const stage = await openStage({
      slack: { rates: 'off' },
      settings: { DEFAULT_CHANNEL: CHANNELS.builds, ...source.settings },
    })
    stage.slack.connectBot(`${stage.app.url}/slack/events`)
    await until('it has looked', () => rowsOf(stage.folder, 'select 1 from build').length > 0)
    await type(stage, PEOPLE.ada, '/ci status acme/web')
    await untilAnswered(stage, PEOPLE.ada, ['Failed', number])
    expect(cards(stage)).toEqual([])
  })
})

test('projects with the same name in all three sources are distinguished by their source, and do not affect each other', async () => {
  const sources = await Promise.all(Object.values(SOURCES).map((play) => play()))
  const stage = await openStage({
    slack: { rates: 'off' },
    settings: Object.assign({ DEFAULT_CHANNEL: CHANNELS.builds }, ...sources.map(({ settings }) => settings)),
  })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  for (const source of sources) {
    source.deliverTo(stage.app.url)
    source.end(source.push(), 'failed')
  }
  await until('each has its card', () => cards(stage).length === sources.length)
  await type(stage, PEOPLE.ada, '/ci restart acme/web@main')
  const choice = await untilAnswered(stage, PEOPLE.ada, ['2 projects', 'acme/web · Basic', 'acme/web · GitLab'])
  const at = choice.text.includes('1. acme/web · GitLab') ? 0 : 1
  await press(stage, PEOPLE.ada, choice, CHOICE_ACTION_IDS[at])
  await untilAnswered(stage, PEOPLE.ada, ['Restart requested', 'acme/web'])
  expect(sources.flatMap((source) => source.asked().map((action) => `${source.name} ${action}`))).toEqual([
    'gitlab restart',
  ])
  await type(stage, PEOPLE.ada, '/ci list')
  await untilAnswered(stage, PEOPLE.ada, ['acme/web · GitLab', 'acme/web · Basic', 'acme/web CI · GitHub'])
}, 60_000)
