import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { databasePath, rowsOf, settled, until, type Stage } from '../support/app.ts'
import { cards, openPlayed, SOURCES, type Cause, type Hosted, type Played } from '../support/sources.ts'
import { reload, threadOf, type, untilAnswered, untilCard } from '../support/world.ts'

// What builds mean, whatever their source calls it: streams, cards, jobs, people, and branches that end.

const { ada, lin } = PEOPLE
const { builds: BUILDS } = CHANNELS

const EVERYTHING = [`{ channel: ${BUILDS}, project: all, events: [started, failed, success], mention: committer }`]

interface Modelled extends Played {
  hosted: Hosted
}

/** As if the source had last been asked about its branches long ago. */
function longAgo({ folder }: Stage): void {
  const db = new DatabaseSync(databasePath(folder), { timeout: 5_000 })
  db.exec('update breakage set checked_at = 0')
  db.close()
}

describe.each(['github', 'gitlab'] as const)('%s', (name) => {
  /** The bot, which tells everything that happens in acme/web. */
  async function open(): Promise<Modelled> {
    const stage = await openPlayed(SOURCES[name], {}, EVERYTHING)
    return { ...stage, hosted: stage.source.hosted! }
  }

  async function build(stage: Modelled, cause: Cause, how: 'failed' | 'passed', branch?: string): Promise<string> {
    const number = stage.hosted.start(cause, branch)
    stage.source.end(number, how)
    await untilCard(stage, [`#${number}`])
    await until('it has ended', () => wordsOf(stage, number).includes(how))
    await settled(stage.app.url)
    return number
  }

  /** What the card of a build says, in lower case. */
  const wordsOf = (stage: Modelled, number: string): string =>
    cards(stage)
      .find((text) => text.includes(`#${number}`))!
      .toLowerCase()

  const request = name === 'github' ? '#87' : '!87'

  const askRed = async (stage: Modelled): Promise<string> => {
    reload(stage)
    longAgo(stage)
    await type(stage, lin, '/ci red')
    return (await untilAnswered(stage, lin, ['red'])).text
  }

  test.each<[Cause, string]>([
    ['schedule', 'main · nightly'],
    ['by hand', 'main · by hand'],
    ['of next year', 'main · event of next year'],
  ])('a build of the cause %s stays red when a push passes, and is called %s', async (cause, called) => {
    const stage = await open()
    await build(stage, cause, 'failed')
    const number = await build(stage, 'push', 'passed')
    expect(wordsOf(stage, number)).toContain('passed on')
    expect(await askRed(stage)).toContain(called)
  })

  test('what starts a build decides which builds share a card', async () => {
    const stage = await open()
    const causes: Cause[] = ['push', 'schedule', 'schedule', 'by hand', 'chained', 'of next year']
    for (const cause of causes) await build(stage, cause, 'failed')
    expect(cards(stage)).toHaveLength(causes.length)
  })

  test('a build that was cancelled since a job had failed has failed', async () => {
    const stage = await open()
    stage.hosted.failFast(stage.hosted.start('push'))
    await untilCard(stage, ['Failed, then cancelled'])
    await until('the job is named', () => JSON.stringify(stage.slack.messages(BUILDS)).includes('failed: unit'))
  })

  test.each<[Cause, boolean]>([
    ['push', true],
    ['schedule', false],
    ['chained', false],
    ['queue', false],
    ['of next year', false],
  ])('the author of a commit is told of a build of the cause %s: %s', async (cause, isTold) => {
    const stage = await open()
    await type(stage, ada, '/ci me Ada')
    await until('the name is hers', () => rowsOf(stage.folder, 'select 1 from person').length > 0)
    const number = await build(stage, cause, 'failed')
    const card = await untilCard(stage, [`#${number}`])
    const all = JSON.stringify([card, threadOf(stage, card)])
    expect(all.includes(`<@${ada}>`)).toBe(isTold)
    expect(all.includes('That')).toBe(false)
  })

  test('a branch that was deleted, and a request that was merged, are not red', async () => {
    const stage = await open()
    await build(stage, 'push', 'failed', 'fix')
    await build(stage, 'request', 'failed', 'feature-x')
    expect(await askRed(stage)).toMatch(new RegExp(`${request}[^]*fix|fix[^]*${request}`))
    stage.hosted.deleteBranch('fix')
    stage.hosted.mergeRequest()
    expect(await askRed(stage)).toContain('No red branches')
  })

  test('a merge queue is never red, and its build is named by its request', async () => {
    const stage = await open()
    const number = await build(stage, 'queue', 'failed')
    expect(cards(stage).find((text) => text.includes(`#${number}`))).not.toContain('readonly')
    expect(await askRed(stage)).toContain('No red branches')
  })

  test('a build of a request shows its number', async () => {
    const stage = await open()
    await build(stage, 'request', 'failed', 'feature-x')
    expect(JSON.stringify(await untilCard(stage, [request]))).toMatch(/pull\/87|merge_requests\/87/)
  })
})
