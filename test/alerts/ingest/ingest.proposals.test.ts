import { expect, test } from 'vitest'
import type { Addresses } from '../../../src/slack/api/addresses.ts'
import { recordLookedUp } from '../../../src/alerts/record/record.ts'
import { INGEST_WAIT_MS } from '../../../src/alerts/ingest/news.ts'
import { LIN, SECOND, story, type Said } from '../../support/build-events.ts'
import { BUILDS, follower, openStage, type Stage } from '../stage.ts'

const ADA = 'U0ADA00001'
const EMAIL = 'ada@acme.example'
const byAda = { committer: 'Ada', author: { email: EMAIL, login: 'octocat' } }
const mentioning = [follower(BUILDS, { mention: 'committer' })]

const failure = (details: Said['details'] = byAda, more: Partial<Said> = {}): Said => ({
  word: 'error',
  details,
  ...more,
})

/** What Slack's directory knows about an address, asked at most once; undefined: Slack never answers. */
function addressesOf(user: string | null | undefined) {
  const asked: string[] = []
  const addresses: Addresses = {
    ask: (email) => asked.push(email) > 0 && user === undefined,
    known: (email) => (asked.includes(email) ? (user ?? null) : null),
  }
  return { asked, addresses }
}

const cardOf = ({ slack }: Stage) => {
  const view = slack.messages[0]?.view
  return view?.kind === 'card' ? { claim: view.claim !== null, proposed: view.proposed } : null
}

async function told(stage: Stage, addresses: Addresses | null, said: Said = failure()) {
  await stage.live({ addresses })
  await stage.hear(said)
  await stage.clock.advance(10 * SECOND)
  return cardOf(stage)
}

test("the person with the commit author's address is asked whether the committer's name is theirs", async () => {
  await using stage = await openStage({ subscriptions: mentioning })
  const { addresses, asked } = addressesOf(ADA)
  expect(await told(stage, addresses)).toEqual({ claim: true, proposed: ADA })
  expect(new Set(asked)).toEqual(new Set([EMAIL]))
})

test("an alert waits only a moment for Slack's answer; without one, everybody is asked", async () => {
  await using stage = await openStage({ subscriptions: mentioning })
  const { addresses } = addressesOf(undefined)
  await stage.live({ addresses })
  await stage.hear(failure())
  await stage.clock.advance(INGEST_WAIT_MS - 100)
  expect(stage.slack.messages).toEqual([])
  await stage.clock.advance(1_100)
  expect(cardOf(stage)).toEqual({ claim: true, proposed: null })
})

test.each<[claim: string, said: Said, mention: 'committer' | 'nobody']>([
  ["whose author's address is unknown", failure({ committer: 'Ada' }), 'committer'],
  ['without a committer', failure({ ...byAda, committer: null }), 'committer'],
  ['by a bot', failure({ ...byAda, committer: 'helper[bot]' }), 'committer'],
  ['with a machine error', failure(byAda, { word: 'infrastructure_failure' }), 'committer'],
  ['that passed', failure(byAda, { word: 'success' }), 'committer'],
  ['in a channel that mentions nobody', failure(), 'nobody'],
])('Slack is not asked about a build %s', async (_, said, mention) => {
  await using stage = await openStage({ subscriptions: [follower(BUILDS, { mention })] })
  const { addresses, asked } = addressesOf(ADA)
  expect((await told(stage, addresses, said))?.proposed ?? null).toBeNull()
  expect(asked).toEqual([])
})

test('Slack is not asked about a build that failed before it was known', async () => {
  await using stage = await openStage({ subscriptions: mentioning })
  const { addresses, asked } = addressesOf(ADA)
  await stage.live({ addresses })
  const [seen] = story(failure())
  await recordLookedUp(stage, { event: seen! }, 'history')
  await stage.clock.advance(10 * SECOND)
  expect([asked, stage.slack.messages]).toEqual([[], []])
})

test('Slack is not asked if somebody has claimed the name', async () => {
  await using stage = await openStage({ subscriptions: mentioning })
  const { addresses, asked } = addressesOf(ADA)
  await stage.store.write((tx) => tx.claimHandle('ada', LIN, 1))
  expect(await told(stage, addresses)).toEqual({ claim: false, proposed: null })
  expect(asked).toEqual([])
})

test.each<[claim: string, isAsked: boolean]>([
  ['Slack does not know the address', true],
  ['Slack is not asked', false],
])('the person who claimed the login is asked if %s', async (_, isAsked) => {
  await using stage = await openStage({ subscriptions: mentioning })
  await stage.store.write((tx) => tx.claimHandle('octocat', LIN, 1))
  const addresses = isAsked ? addressesOf(null).addresses : null
  expect(await told(stage, addresses)).toEqual({ claim: true, proposed: LIN })
})

test('if nobody has claimed the login, everybody is asked', async () => {
  await using stage = await openStage({ subscriptions: mentioning })
  await stage.store.write((tx) => tx.claimHandle('somebody-else', LIN, 1))
  expect(await told(stage, null)).toEqual({ claim: true, proposed: null })
})

test.each([ADA, null])('nobody is asked who wants no mentions, found by address %s or by login', async (user) => {
  await using stage = await openStage({ subscriptions: mentioning })
  await stage.store.write(async (tx) => {
    await tx.claimHandle('octocat', LIN, 1)
    for (const one of [ADA, LIN]) await tx.setMentions(one, false)
  })
  expect(await told(stage, addressesOf(user).addresses)).toEqual({ claim: true, proposed: null })
})
