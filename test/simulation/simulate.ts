import { isDeepStrictEqual } from 'node:util'
import { NO_DETAILS, toFact, type BuildDetails, type Fact, type Origin } from '../../src/domain/fact.ts'
import { isProjectRequest } from '../../src/domain/project-request.ts'
import { isOpen, restartsAsked, shownBy } from '../../src/domain/request.ts'
import { foldRuns, runKey } from '../../src/domain/run.ts'
import { isFinal, toStatus } from '../../src/domain/status.ts'
import type { CardView, ReplyView, View } from '../../src/domain/view.ts'
import { openStage, type Incarnation, type Stage } from '../reconcile/stage.ts'
import { buildId, MINUTE, projectId, SECOND, T0, type Said } from '../support/facts.ts'
import { inBrief, type Shown } from '../support/fake-notifier.ts'
import { expectedCards, expectedNotices, type Expected, type Happened } from './oracle.ts'
import { BASIC, lookAfter, openCi, press, type Ci } from './people.ts'
import { createScenario, type Scenario } from './scenario.ts'

/** How finely the world is turned: a dead process is noticed, and a delivery made, so often. */
const SLICE_MS = 250

/** Longer than anything waits before it is tried again: a closed channel, and all else. */
const CALM_AFTER_CLOSURE_MS = 12 * MINUTE
const CALM_MS = 3 * MINUTE
const SILENCE_MS = 1.5 * MINUTE

/** How often a process looks after what was asked. */
const LOOK_EVERY_MS = 10 * SECOND
const REQUESTS_MAX = 1_000

export const ADA = 'U0ADA00001'

/** Plays one seed to its end. @returns everything that is wrong then; empty: Slack agrees with the facts */
export async function simulate(seed: number): Promise<string[]> {
  const scenario = createScenario(seed)
  const { random, subscriptions, processes } = scenario
  await using stage = await openStage({ subscriptions, random: random.next, shared: processes > 1 })
  await stage.store.write((tx) => tx.claimHandle('Ada', ADA, T0))
  await stage.store.write((tx) => tx.keepProject({ ...BASIC, readAt: T0 }))
  stage.slack.fate(scenario.fateOf)
  const { lost, last, ci } = await playTrouble(stage, scenario)
  stage.slack.fate(() => ({ landsAfterMs: 50 }))
  const calmUntil = stage.clock.now() + (scenario.closed ? CALM_AFTER_CLOSURE_MS : CALM_MS)
  while (stage.clock.now() < calmUntil) {
    void lookAfter(last)
    await stage.clock.advance(LOOK_EVERY_MS)
  }
  const calls = stage.slack.calls.length
  await stage.clock.advance(SILENCE_MS)
  const restless = stage.slack.calls.length - calls
  const audit = await stage.store.read.requestsAfter({ askedAt: 0, id: '' }, REQUESTS_MAX)
  const requests = audit.filter((request) => !isProjectRequest(request))
  const happened = { facts: readFacts(stage), requests, subscriptions, interfaces: scenario.interfaces }
  return [
    ...stage.log.filter(({ level, text }) => level === 'error' && !EXPECTED_ERRORS.has(text)).map(describeError),
    ...(restless === 0 ? [] : [`${restless} calls are still made when all is said`]),
    ...judge(stage, happened, lost),
    ...judgeRequests(happened, ci),
  ]
}

const EXPECTED_ERRORS = new Set(['Slack refuses; a person has to change something'])

const describeError = ({ text, fields }: Stage['log'][number]): string => {
  const cause = 'err' in fields && fields.err instanceof Error ? fields.err.stack : ''
  return `error logged: ${text} ${cause}`
}

interface Played {
  /** the cards that people deleted */
  lost: Shown[]
  /** the process that is left */
  last: Incarnation
  ci: Ci
}

async function playTrouble(stage: Stage, scenario: Scenario): Promise<Played> {
  let deliveries = [...scenario.deliveries]
  const presses = [...scenario.presses]
  const ci = openCi(stage, scenario, (after, said) => {
    deliveries = [...deliveries, { after, said }].toSorted((a, b) => a.after - b.after)
  })
  const losses = scenario.losses.toSorted((a, b) => a - b)
  const lost: Shown[] = []
  const alive: { process: Incarnation | null; bornAt: number }[] = []
  for (let i = 0; i < scenario.processes; i++) alive.push({ process: null, bornAt: 0 })
  for (let after = 0; after <= scenario.calmAfterMs; after += SLICE_MS) {
    for (const place of alive) await keepAlive(stage, scenario, place, after, scenario.fuse())
    while (deliveries[0] && deliveries[0].after <= after)
      await deliver(stage, scenario, deliveries.shift()!.said, alive)
    if (losses[0] !== undefined && losses[0] <= after && losses.shift() !== undefined)
      lost.push(...loseOne(stage, scenario))
    while (presses[0] && presses[0].after <= after) await pressOne(stage, scenario, alive, ci, presses.shift()!.times)
    if (after % LOOK_EVERY_MS === 0) for (const { process } of alive) if (process) void lookAfter(process)
    openOrClose(stage, scenario, after)
    await stage.clock.advance(SLICE_MS)
  }
  openOrClose(stage, scenario, Number.POSITIVE_INFINITY)
  for (const place of alive) await keepAlive(stage, scenario, place, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
  return { lost, last: alive[0]!.process!, ci }
}

async function pressOne(
  stage: Stage,
  { random }: Scenario,
  alive: readonly Place[],
  ci: Ci,
  times: number,
): Promise<void> {
  // At a moment of its own: what is heard in the same millisecond is heard before or after, and nobody could tell.
  await stage.clock.advance(1)
  const { process } = random.pick(alive)
  if (process && !process.isDead()) press(stage, random, process, ci, times)
  await stage.clock.advance(1)
}

interface Place {
  process: Incarnation | null
  bornAt: number
}

async function keepAlive(stage: Stage, scenario: Scenario, place: Place, after: number, fuse: number): Promise<void> {
  // The last process is not to die in the calm: it is replaced by one without a fuse.
  if (fuse === Number.POSITIVE_INFINITY) place.process?.kill()
  if (place.process && !place.process.isDead()) return
  if (place.process) place.bornAt = after + scenario.downMs()
  place.process = null
  if (fuse === Number.POSITIVE_INFINITY || place.bornAt <= after)
    place.process = await stage.live({ interfaces: scenario.interfaces }, fuse)
}

async function deliver(stage: Stage, { random, wakes }: Scenario, said: Said, alive: readonly Place[]): Promise<void> {
  const { lineageKey } = await stage.hear(said)
  for (const { process } of alive) if (random.chance(wakes)) process?.reconciler.wake(lineageKey)
}

function loseOne({ slack }: Stage, { random }: Scenario): Shown[] {
  const cards = slack.messages.filter(({ thread }) => thread === null)
  if (cards.length === 0) return []
  const card = random.pick(cards)
  slack.lose(card.ts)
  return [card]
}

function openOrClose({ slack }: Stage, { closed }: Scenario, after: number): void {
  if (!closed) return
  if (after >= closed.fromMs && after < closed.toMs) slack.close(closed.channel)
  else slack.open(closed.channel)
}

function judge(stage: Stage, happened: Happened, lost: readonly Shown[]): string[] {
  const unexplained = new Set(stage.slack.messages)
  const wrongs: string[] = []
  for (const expected of expectedCards(happened))
    wrongs.push(...judgeCard(stage, expected, unexplained, lost.some(isOf(expected))))
  for (const { channel, view } of expectedNotices(happened)) {
    const notices = stage.slack.messages.filter((one) => one.channel === channel && one.view.kind === 'notice')
    if (notices.length === 1) unexplained.delete(notices[0]!)
    if (lost.some((one) => one.channel === channel && one.view.kind === 'notice')) continue
    if (notices.length !== 1) wrongs.push(`${notices.length} notices in ${channel} instead of one`)
    else if (!isDeepStrictEqual(notices[0]!.view, view))
      wrongs.push(`a notice in ${channel} says ${JSON.stringify(notices[0]!.view)} instead of ${JSON.stringify(view)}`)
  }
  // What hung on a deleted card went with it as far as people see.
  const roots = new Set(lost.map(({ ts }) => ts))
  for (const message of unexplained)
    if (message.thread === null || !roots.has(message.thread)) wrongs.push(`too much: ${brief(message)}`)
  return wrongs
}

const isOf =
  ({ channel, runs }: Expected) =>
  (message: Shown): boolean => {
    const { view } = message
    if (message.channel !== channel || !isOfBuild(view)) return false
    const { branch, commit } = view.build
    const about = runs[0]!.facts[0]!
    return (
      runs.some((run) => run.buildId === view.build.buildId) &&
      branch === about.branch &&
      commit === about.commitId?.slice(0, 7)
    )
  }

const isOfBuild = (view: View): view is CardView | ReplyView => view.kind === 'card' || view.kind === 'reply'

function judgeCard(stage: Stage, expected: Expected, unexplained: Set<Shown>, wasLost: boolean): string[] {
  const where = `${expected.channel} ${expected.runs.at(-1)!.buildId}`
  const messages = stage.slack.messages.filter(isOf(expected))
  const cards = messages.filter(({ thread }) => thread === null)
  const card = cards[0]
  if (!card || cards.length > 1) return wasLost && !card ? [] : [`${cards.length} cards instead of one: ${where}`]
  unexplained.delete(card)
  const bornRun = bornRunOf(stage, card)
  const story = expected.story(bornRun)
  const wrongs = [...judgeBirth(card, bornRun), ...judgeMention(expected, story.card, messages, where)]
  if (!saysTheSame(card.view as CardView, story.card))
    wrongs.push(`${where}: the card says ${JSON.stringify(card.view)} instead of ${JSON.stringify(story.card)}`)
  const asks = stage.slack.messages.filter(({ thread, view }) => thread === card.ts && view.kind === 'ask')
  for (const { slot, view } of story.asks) {
    const said = asks.filter((ask) => isDeepStrictEqual(ask.view, view) && unexplained.has(ask)).slice(0, 1)
    for (const one of said) unexplained.delete(one)
    if (said.length === 0 && !wasLost)
      wrongs.push(
        `${where}: no line for ${slot}: ${JSON.stringify(view)} among ${JSON.stringify(asks.map((one) => one.view))}`,
      )
  }
  const replies = messages.filter(({ thread }) => thread === card.ts)
  for (const { slot, view } of story.replies) {
    const said = replies.filter((reply) => saysTheSame(reply.view as ReplyView, view))
    for (const one of said) unexplained.delete(one)
    if (said.length !== 1 && !wasLost)
      wrongs.push(
        `${where}: ${said.length} replies for ${slot} instead of one: ${JSON.stringify(view)} ${replies.map(brief).join('; ')}`,
      )
  }
  return wrongs
}

const bornRunOf = ({ sql }: Stage, { key }: Shown): string | null => {
  const [row] = sql('select born_run from message where key = ?', key) as { born_run: string | null }[]
  return row?.born_run ?? null
}

/** Whatever people ask comes to an end, CI is called at most once for it, and what is confirmed has happened. */
function judgeRequests({ facts, requests }: Happened, { calls }: Ci): string[] {
  const wrongs = requests.filter(isOpen).map(({ id, state }) => `${id} is ${state} when all is over`)
  const runs = foldRuns(facts, restartsAsked(requests))
  for (const request of requests)
    if (request.state === 'confirmed' && !shownBy(request, runs)) wrongs.push(`${request.id} is confirmed by nothing`)
  const asked = (name: string) => requests.filter(({ action, buildId: build }) => `${action} ${build}` === name).length
  for (const name of new Set(calls)) {
    const times = calls.filter((call) => call === name).length
    if (times > asked(name)) wrongs.push(`CI was called ${times} times to ${name}, and asked to ${asked(name)} times`)
  }
  return wrongs
}

/** The record of what a card told when it was born must be what people saw: it decides whether a reply tells it. */
function judgeBirth({ first }: Shown, bornRun: string | null): string[] {
  const { build, shown } = first as CardView
  const told = shown === 'passed' || shown === 'fixed' || isFinal(shown) ? build.buildId : null
  return (bornRun?.split('.')[0] ?? null) === told
    ? []
    : [`a card born as ${build.buildId} ${shown} is recorded as ${bornRun}`]
}

/** An edit notifies nobody: whoever broke the newest build must have been named in a message when it appeared. */
function judgeMention(
  { subscription, runs }: Expected,
  card: CardView,
  messages: readonly Shown[],
  where: string,
): string[] {
  const newest = runs.at(-1)!
  const isTheirFault = newest.status === 'failed' && card.build.committer === 'Ada' && newest.facts.every(isSignedByAda)
  if (subscription.mention !== 'committer' || !isTheirFault) return []
  const called = messages.some(
    ({ first }) => isOfBuild(first) && first.build.buildId === newest.buildId && first.mention === ADA,
  )
  return called ? [] : [`${where}: nobody was called to the failure of ${runKey(newest)}`]
}

const isSignedByAda = ({ details }: Fact): boolean => details.committer === 'Ada'

// Whom a message calls and whether it went to the channel depends on the moment, as does a link to an earlier card.
const saysTheSame = <Told extends CardView | ReplyView>(said: Told, wanted: Told): boolean => {
  const core = (view: Told) => ({ ...view, mention: null, broadcast: null, replaces: null })
  return isDeepStrictEqual(core(said), core(wanted))
}

const brief = ({ channel, ts, thread, key, view, postedAt }: Shown): string => {
  const attempt = isOfBuild(view) ? ` (attempt ${view.attempt})` : ''
  return `${inBrief(view)}${attempt} in ${channel} at +${(postedAt - T0) / SECOND}s, ${ts} under ${thread}, ${key}`
}

const ORIGINS: readonly Origin[] = ['delivery', 'poll', 'action']

function readFacts({ sql }: Stage): Fact[] {
  const rows = sql('select * from fact order by seq') as Record<string, string & number>[]
  return rows.map((row) => {
    const details = { ...NO_DETAILS, ...(JSON.parse(row['details']!) as BuildDetails) }
    const origin = ORIGINS.find((one) => one === String(row['origin']))!
    const ids = { projectId: projectId(row['project_id']!), buildId: buildId(row['build_id']!) }
    const { branch, word } = row as { branch: string | null; word: string } & typeof row
    const seen = { ...ids, branch, commitId: row['commit_id'] ?? null, word, details }
    return { ...toFact(seen, row['seq']!, row['at']!, origin), status: toStatus(word) }
  })
}
