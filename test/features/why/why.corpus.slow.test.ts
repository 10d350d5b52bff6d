import { describe, expect, test } from 'vitest'
import { isFinal, toStatus } from '../../../src/domain/builds/status.ts'
import { shortId, sourceOf, type ChannelId } from '../../../src/domain/ids.ts'
import type { ChannelRule } from '../../../src/domain/rules/rule.ts'
import { explain, type Explained } from '../../../src/features/why/why.ts'
import { follower, openStage, type Stage } from '../../alerts/stage.ts'
import { createScenario } from '../../simulation/scenario.ts'
import { buildId, channelId, projectId, SECOND, WEB, type Said } from '../../support/build-events.ts'
import type { Shown } from '../../support/fake-notifier.ts'
import { seesAll } from '../operations-stage.ts'

// Compares what /ci why says about each delivery with what Slack shows after it, and with rules that are written out
// here by hand. The code that decides is not used as a reference.

interface Channel {
  channel: ChannelId
  rules: readonly ChannelRule[] | null
  quiet: boolean
  /** which events the channel wants, in the test's own words */
  wants: (event: string, branch: string | null) => boolean
}

const rule = (branch: string | null, branchMatch: string | null, events: ChannelRule['events']): ChannelRule => ({
  branch,
  branchMatch,
  events,
})

const isOneOf = (event: string, ...events: readonly string[]): boolean => events.includes(event)

const CHANNELS: readonly Channel[] = [
  { channel: channelId('C0EVERY001'), rules: [rule(null, null, 'every')], quiet: false, wants: () => true },
  {
    channel: channelId('C0QUIET001'),
    rules: [rule('', null, ['failed', 'recovered'])],
    quiet: true,
    wants: (event) => isOneOf(event, 'failed', 'recovered'),
  },
  {
    channel: channelId('C0MAIN0001'),
    rules: [rule('release/*', null, 'every'), rule('main', 'exact', ['failed', 'success'])],
    quiet: false,
    wants: (event, branch) =>
      branch !== null && (branch.startsWith('release/') || (branch === 'main' && isOneOf(event, 'failed', 'success'))),
  },
  {
    channel: channelId('C0REGEX001'),
    rules: [rule('(', 'regex', 'every'), rule('fix/.+', 'regex', ['started', 'recovered', 'waiting', 'stopped'])],
    quiet: false,
    wants: (event, branch) =>
      branch !== null && branch.startsWith('fix/') && isOneOf(event, 'started', 'recovered', 'waiting', 'stopped'),
  },
  // The project's own rules, as CI has them.
  {
    channel: channelId('C0CI000001'),
    rules: null,
    quiet: false,
    wants: (event, branch) =>
      (branch === 'main' && isOneOf(event, 'failed', 'recovered')) ||
      (branch?.startsWith('release/') === true && event === 'success'),
  },
]

const CI_RULES = [rule('main', null, ['failed', 'recovered']), rule('release/*', null, ['success'])]

/** The event names of CI's words. */
const EVENTS: Readonly<Record<string, string>> = {
  initiated: 'started',
  testing: 'started',
  waiting: 'waiting',
  error: 'failed',
  failed: 'failed',
  infrastructure_failure: 'failed',
  ignored: 'failed',
  blocked: 'failed',
  stopped: 'stopped',
  success: 'success',
}

const GAP_MS = 10 * SECOND

interface StepResult {
  decision: Explained
  /** the messages about this build that this delivery caused, without those about an earlier attempt */
  fresh: readonly Shown[]
  /** a card of its revision existed before */
  hadCard: boolean
  /** it fixed the branch */
  isFixed: boolean
}

/** Delivers the events one by one and compares each channel when it is up to date. @returns what was compared */
async function play(deliveries: readonly Said[]): Promise<number> {
  await using stage = await openStage({
    subscriptions: CHANNELS.map(({ channel, rules, quiet }) => follower(channel, { rules, quiet })),
  })
  const life = await stage.live({ rulesOf: async () => CI_RULES })
  let compared = 0
  const cards = new Set<string>()
  const revisions = new Map<string, string>()
  for (const said of deliveries) {
    const before = new Set(stage.slack.messages.map(({ ts }) => ts))
    const { answer, revisionKey } = await stage.hear(said)
    revisions.set(numberOf(said), revisionKey)
    const receivedAt = stage.clock.now()
    life.reconciler.wake('ingest')
    await stage.clock.settle()
    await stage.clock.advance(GAP_MS)
    const fresh = stage.slack.messages.filter(({ ts }) => !before.has(ts))
    const decisions = await explained(stage, said, receivedAt)
    // A repetition with new details is also a build event.
    const owed = answer === 'recorded' ? [CHANNELS.length] : [0, CHANNELS.length]
    expect(owed, JSON.stringify(said)).toContain(decisions.length)
    if (answer === 'duplicate') expect(fresh).toEqual([])
    for (const decision of decisions) {
      const here = fresh.filter(({ channel, view }) => channel === decision.channel && isAbout(view, said))
      const hadCard = cards.has(`${revisionKey} ${decision.channel}`)
      compare(stage, said, { decision, fresh: here, hadCard, isFixed: isShownFixed(stage, said, before) })
      compared += 1
    }
    // A late failure can turn an earlier success into a recovery, which posts the card of another build.
    for (const { channel, view } of fresh)
      if (view.kind === 'card') cards.add(`${revisions.get(view.build.buildId)} ${channel}`)
  }
  await life.reconciler.stop()
  return compared
}

async function explained({ store, clock, subscriptions }: Stage, said: Said, at: number): Promise<Explained[]> {
  const ref = { projectId: projectId(said.project ?? WEB), buildId: buildId(said.build ?? '512'), attempt: 1 }
  const configured = { v2: false, legacy: false }
  const sites = { ci: null, github: null, gitlab: null }
  const deps = { store, configured, sites, clock, subscriptions: async () => subscriptions, seenBy: seesAll }
  const outcome = await explain(deps, { kind: 'run', ref }, { user: 'U0LIN00001', channel: null })
  return outcome.kind === 'why' ? outcome.decisions.filter((one) => one.at === at) : []
}

/** As cards show it: the short form of a UUID. */
const numberOf = ({ build = '512' }: Said): string => shortId(buildId(build))

// A reply about an earlier attempt, sent when another one takes its card, does not belong to this delivery.
// A card shows the newest build of its commit.
function isAbout(view: Shown['view'], said: Said): boolean {
  const { project = WEB, branch = 'main', commit } = said
  if (view.kind === 'reply') return view.build.buildId === numberOf(said) && !view.isLate
  if (view.kind !== 'card' || !view.ref.startsWith(`${project}/`)) return false
  return view.build.branch === branch && view.build.commit === (commit ?? '').slice(0, 7)
}

function compare(stage: Stage, said: Said, told: StepResult): void {
  const { decision, fresh, hadCard } = told
  const about = `${JSON.stringify(said)} in ${decision.channel}: ${decision.verdict} ${decision.reason}`
  const cards = fresh.filter(({ view }) => view.kind === 'card')
  const replies = fresh.filter(({ view }) => view.kind === 'reply')
  const status = toStatus(said.word)
  const isNotice = decision.reason === 'account-notice'
  const isAnnounced = decision.verdict === 'post' && !isNotice
  compareWish(said, told, about)
  if (decision.verdict === 'update') expect(hadCard, `card to update: ${about}`).toBe(true)
  else if (decision.verdict === 'silent' && !changesNothing(decision)) expect(hadCard, `no card: ${about}`).toBe(false)
  expect(cards.length, `card: ${about}`).toBe(isAnnounced && !hadCard ? 1 : 0)
  // A card that is posted after an end shows that end, unless a newer build is on it, or a newer attempt.
  const isOnCard = cards.some(
    ({ first }) => first.kind === 'card' && first.build.buildId === numberOf(said) && isOfAttempt(said, first.ref),
  )
  expect(replies.length, `reply: ${about}`).toBe(isAnnounced && isFinal(status) && !isOnCard ? 1 : 0)
  if (isNotice) expect(noticesIn(stage, decision), `notice: ${about}`).toBe(true)
  comparePosted(stage, decision, about)
  for (const reply of replies) compareBroadcast(stage, decision, reply, about)
}

const isOfAttempt = ({ details }: Said, ref: string): boolean =>
  details?.attempt == null || ref.endsWith(`.${details.attempt}`)

/** Unless the event changes nothing, a channel gets exactly the events that it wants. */
function compareWish(said: Said, { decision, isFixed }: StepResult, about: string): void {
  const { word, branch = 'main', project = WEB } = said
  const { verdict, reason, ruleResults } = decision
  if (changesNothing(decision)) {
    // Only an event before the end of its attempt can be late, unless the source numbers attempts.
    if (reason === 'late' && sourceOf(project) === 'ci') expect(isFinal(toStatus(word)), about).toBe(false)
    return expect(verdict, about).toBe('silent')
  }
  const { wants } = channelOf(decision)
  const own = [EVENTS[word] ?? 'unknown', ...(isFixed ? ['recovered'] : [])]
  // No rule can name a build that is only queued.
  const isWanted = word !== 'queued' && own.some((event) => wants(event, branch))
  expect(verdict === 'post', `wanted: ${about}`).toBe(isWanted)
  expect(
    ruleResults.some((one) => one.verdict === 'selects'),
    `a rule selects it: ${about}`,
  ).toBe(isWanted)
}

const changesNothing = ({ reason }: Explained): boolean => reason === 'duplicate' || reason === 'late'

/** In the channel that sees everything, for this delivery: recoveries by earlier attempts of the build do not count. */
const isShownFixed = ({ slack }: Stage, said: Said, before: ReadonlySet<string>): boolean =>
  toStatus(said.word) === 'success' &&
  slack.messages.some(
    ({ ts, channel, view }) =>
      channel === CHANNELS[0]!.channel &&
      (view.kind === 'card' || (view.kind === 'reply' && !before.has(ts))) &&
      view.streak !== null &&
      view.build.buildId === numberOf(said) &&
      isAbout(view, said),
  )

const channelOf = ({ channel }: Pick<Explained, 'channel'>): Channel => CHANNELS.find((one) => one.channel === channel)!

/** The messages that it names exist, and no others. */
function comparePosted(stage: Stage, { channel, posted, verdict }: Explained, about: string): void {
  for (const { slot, state, ts } of posted) {
    expect(state, about).toBe('posted')
    const message = stage.slack.messages.find((one) => one.ts === ts)
    expect([message?.channel, message?.view.kind], `${slot}: ${about}`).toEqual([
      channel,
      slot === 'card' ? 'card' : slot === 'notice' ? 'notice' : 'reply',
    ])
  }
  if (verdict === 'post') expect(posted.length, about).toBeGreaterThan(0)
}

const noticesIn = ({ slack }: Stage, { channel, posted }: Explained): boolean =>
  posted.some(
    ({ slot, ts }) => slot === 'notice' && slack.messages.some((one) => one.ts === ts && one.channel === channel),
  )

/**
 * A wanted failure or recovery of the attempt on the card is broadcast, unless the channel is quiet, has seen a failure
 * of the commit, or has a line of it that says how it went on.
 */
function compareBroadcast(stage: Stage, decision: Explained, { ts, first, thread }: Shown, about: string): void {
  const said = decision.posted.find((one) => one.ts === ts)
  expect(said?.slot, `reply is named: ${about}`).toMatch(/^run:/)
  const isShown = first.kind === 'reply' && first.broadcast
  const { quiet, wants } = channelOf(decision)
  const isLoud = decision.events.some((event) => isOneOf(event, 'failed', 'recovered') && wants(event, decision.branch))
  const card = stage.slack.messages.find((one) => one.ts === thread)?.view
  const isNewest = card?.kind === 'card' && said?.slot === `run:${card.ref.split('/')[1]}`
  const isEarlier = (one: Shown) => one.ts === thread || (one.thread === thread && one.ts < ts)
  const isLine = (one: Shown) => one.first.kind === 'reply' && one.first.broadcast
  const isSeen = (one: Shown) => one.ts === thread || isLine(one)
  const isTold = isRedView(first) ? (one: Shown) => isSeen(one) && isRedView(one.first) : isLine
  const isAgain = stage.slack.messages.some((one) => isEarlier(one) && isTold(one))
  expect(isShown, `to be broadcast: ${about}`).toBe(isLoud && !quiet && isNewest && !isAgain)
}

const isRedView = (view: Shown['view']): boolean =>
  'shown' in view && (view.shown === 'failed' || view.shown === 'infrastructure_failure')

const BRANCHES = ['main', 'fix/login', 'release/1.2', 'next', null]
const WORDS = [...Object.keys(EVENTS), 'hibernating']

let commits = 0
const commit = (): string => (commits += 1).toString(16).padStart(40, 'c')

describe('the explanation of each delivery matches what Slack shows after it', () => {
  test.each(BRANCHES)('for every word of CI, alone and after a start, on %s', async (branch) => {
    const builds = WORDS.flatMap((word, n): Said[] => [
      { word, branch, commit: commit(), build: String(100 + 10 * n) },
      ...['initiated', word].map((one) => ({ word: one, branch, commit: null, build: String(105 + 10 * n) })),
    ])
    expect(await play(withCommits(builds))).toBeGreaterThan(CHANNELS.length * WORDS.length)
  })

  test('for failures, recoveries, restarts, repetitions and late events of one commit', async () => {
    const words = [
      'initiated',
      'error',
      'initiated',
      'initiated',
      'success',
      'initiated',
      'error',
      'waiting',
      'stopped',
    ]
    for (const branch of ['main', 'fix/login', 'next'])
      expect(await play(words.map((word) => ({ word, branch, commit: 'd'.repeat(40) })))).toBeGreaterThan(0)
  })

  test.each(Array.from({ length: 40 }, (_, seed) => seed + 1))('for generated stories: seed %i', async (seed) => {
    const { deliveries } = createScenario(seed).chapters[0]!.builds
    // Builds without a commit of their own have a card each; `play` finds cards by their commits.
    const said = deliveries.flatMap((one) => (one.said.commit === null ? [] : one.said))
    if (said.length > 0) expect(await play(said)).toBeGreaterThan(0)
  })
})

/** Gives each build its own commit. */
const withCommits = (builds: readonly Said[]): Said[] =>
  builds.map((said) => ({ ...said, commit: Number(said.build).toString(16).padStart(40, '0') }))
