import { isDeepStrictEqual } from 'node:util'
import type { BuildEvent } from '../../src/domain/builds/build-event.ts'
import { shortId } from '../../src/domain/ids.ts'
import { isFinal } from '../../src/domain/builds/status.ts'
import type { CardView, NoticeView, ReplyView, View } from '../../src/domain/cards/view.ts'
import type { Stage } from '../alerts/stage.ts'
import { SECOND, T0 } from '../support/build-events.ts'
import { inBrief, type Shown } from '../support/fake-notifier.ts'
import { judgeStreaks } from './judge-streaks.ts'
import { judgeCalls } from './judge-calls.ts'
import { judgeRequests } from './judge-requests.ts'
import { streamName } from './hosted.ts'
import { judgeStreams, streamEvents } from './judge-streams.ts'
import { judgePromises } from './promises.ts'
import { judgeReminders } from './reminders.ts'
import { readNaively } from './naive.ts'
import {
  expectedCards,
  expectedNotices,
  isOvertaken,
  type Expected,
  type ExpectedNotice,
  type Happened,
} from './oracle.ts'
import { isForGood } from './scenario.ts'
import type { World } from './simulate.ts'

export const ADA = 'U0ADA00001'

/** Compares Slack with what it should show. @returns everything that is wrong */
export function judge(world: World): string[] {
  const { stage, scenario, memory, chapterEnds } = world
  const happened: Happened = {
    buildEvents: memory.buildEvents(),
    requests: memory.requests(),
    eras: erasOf(world, chapterEnds),
    configured: scenario.configured,
  }
  return [
    ...stage.log.filter(({ level, text }) => level === 'error' && !EXPECTED_ERRORS.has(text)).map(describeError),
    ...judgeOrder(happened),
    ...judgeMessages(world, happened),
    ...judgeRequests(world, happened),
    ...judgeStreaks(world, happened),
    ...judgeStreams(world, happened),
    ...judgeReminders(world),
    ...judgePromises(world),
    ...judgeCalls(world),
  ]
}

const EXPECTED_ERRORS = new Set(['Slack refuses this call; someone must fix this (see `code`)'])

const describeError = ({ text, fields }: Stage['log'][number]): string => {
  const cause = 'err' in fields && fields.err instanceof Error ? fields.err.stack : ''
  return `error logged: ${text} ${cause}`
}

const erasOf = ({ scenario: { chapters } }: World, chapterEnds: readonly number[]): Happened['eras'] =>
  chapters.map(({ subscriptions }, i) => ({
    subscriptions,
    untilSeq: chapterEnds[i] ?? Number.POSITIVE_INFINITY,
    untilAt: chapters[i + 1] ? T0 + chapters[i + 1]!.fromMs : Number.POSITIVE_INFINITY,
  }))

/** The order of a build never changes, whatever is received about it, and however late. */
const judgeOrder = ({ buildEvents }: Happened): string[] =>
  [...Map.groupBy(buildEvents, ({ projectId, buildId }) => `${projectId}/${buildId}`)].flatMap(([build, own]) =>
    new Set(own.map(({ buildOrder }) => buildOrder)).size > 1 ? [`${build} has moved among the builds`] : [],
  )

function judgeMessages(world: World, happened: Happened): string[] {
  const { stage, lost, frozen } = world
  // Reminders and notes about owners have their own judges.
  const unexplained = new Set(
    stage.slack.messages.filter(({ view }) => view.kind !== 'reminder' && view.kind !== 'note'),
  )
  const cards = expectedCards(happened)
  const { closed } = world.scenario.weather
  const notices = expectedNotices(happened)
  const noticesElsewhere = notices.filter(({ channel }) => channel === closed?.channel)
  const elsewhere = [...cards.filter(({ channel }) => channel === closed?.channel), ...noticesElsewhere]
  for (const message of unexplained) if (isInstead(world, message, elsewhere)) unexplained.delete(message)
  const isOpen = ({ channel }: { channel: string }) => !isForGood(world.scenario.weather) || channel !== closed!.channel
  const wrongs = [
    ...cards.filter(isOpen).flatMap((expected) => judgeStory(world, happened, expected, unexplained)),
    ...notices.filter(isOpen).flatMap((expected) => judgeNotice(world, expected, unexplained, noticesElsewhere)),
    ...elsewhere.filter((one) => !isOpen(one)).flatMap((expected) => judgeElsewhere(world, expected)),
  ]
  // A reply below a deleted card disappeared with it. What a reply below a given-up card said may be on the new card
  // itself.
  const roots = new Set([...lost.map(({ ts }) => ts), ...frozen])
  for (const message of unexplained)
    if (
      (message.thread === null || !roots.has(message.thread)) &&
      !isOfRefused(message, happened) &&
      !wasRightThen(message, happened)
    )
      wrongs.push(`too much: ${brief(message)}`)
  return wrongs
}

/** Is this message of a closed channel's card, or shown in its place? */
const isInstead = (
  { memory, scenario }: World,
  { key, channel }: Shown,
  elsewhere: readonly { card: string }[],
): boolean =>
  (channel !== scenario.weather.closed?.channel || isForGood(scenario.weather)) &&
  elsewhere.some(({ card }) => memory.claimOf(key)?.card === card)

/** What a channel that is closed for good would be told of is shown somewhere. */
function judgeElsewhere(
  { stage, memory, lost }: World,
  { card, channel }: { card: string; channel: string },
): string[] {
  const isShown = [...stage.slack.messages, ...lost].some(
    ({ key, thread }) => thread === null && memory.claimOf(key)?.card === card,
  )
  return isShown ? [] : [`the card ${card} is shown nowhere, since ${channel} is closed`]
}

// Before CI had answered, a start counted as the requested restart. When CI then refuses the request, the start belongs
// to the earlier attempt, but the message stays.
const isOfRefused = ({ view, postedAt }: Shown, { requests }: Happened): boolean =>
  view.kind === 'reply' &&
  requests.some(
    ({ action, state, buildId, requestedAt, endedAt }) =>
      action === 'restart' &&
      state === 'refused' &&
      shortId(buildId) === view.build.buildId &&
      requestedAt <= postedAt &&
      postedAt <= endedAt!,
  )

// An attempt counted as a recovery, say, until the end of an earlier one was received. What is sent is not taken back.
const wasRightThen = ({ view }: Shown, { buildEvents }: Happened): boolean =>
  isOfBuild(view) &&
  buildEvents.some(
    (one) =>
      shortId(one.buildId) === view.build.buildId &&
      isFinal(one.status) &&
      !one.details.end?.isWhole &&
      isOvertaken(
        one,
        buildEvents.filter(({ status }) => isFinal(status)),
      ),
  )

/** The messages of one card or notice, according to the bot's own claims. */
function messagesOf({ memory }: World, messages: readonly Shown[], where: { card: string; channel: string }) {
  return messages
    .filter(({ key, channel }) => channel === where.channel && memory.claimOf(key)?.card === where.card)
    .map((message) => ({ ...memory.claimOf(message.key)!, message }))
}

type Booked = ReturnType<typeof messagesOf>[number]

function judgeNotice(
  world: World,
  expected: ExpectedNotice,
  unexplained: Set<Shown>,
  elsewhere: readonly ExpectedNotice[],
): string[] {
  const { stage, lost } = world
  const { channel, view } = expected
  const notices = messagesOf(world, stage.slack.messages, expected).map(({ message }) => message)
  if (notices.length === 1) unexplained.delete(notices[0]!)
  if (messagesOf(world, lost, expected).length > 0) return []
  if (notices.length !== 1) return [`${notices.length} notices in ${channel} instead of one`]
  const inPlace = elsewhere.filter((one) => one.channel !== channel).flatMap((one) => one.view.builds)
  return isDeepStrictEqual(withoutBuilds(notices[0]!.view, inPlace, view), view)
    ? []
    : [`a notice in ${channel} says ${JSON.stringify(notices[0]!.view)} instead of ${JSON.stringify(view)}`]
}

/** A notice without the builds that it counts in place of a channel that was closed. */
function withoutBuilds(shown: Shown['view'], inPlace: NoticeView['builds'], own: NoticeView): Shown['view'] {
  if (shown.kind !== 'notice') return shown
  const isAmong = (builds: NoticeView['builds'], build: NoticeView['builds'][number]) =>
    builds.some((one) => isDeepStrictEqual(one, build))
  const extra = shown.builds.filter((build) => !isAmong(own.builds, build) && isAmong(inPlace, build))
  const left = { ...shown, builds: shown.builds.filter((build) => !extra.includes(build)) }
  for (const build of extra) left[build.shown] -= 1
  return left
}

function judgeStory(world: World, happened: Happened, expected: Expected, unexplained: Set<Shown>): string[] {
  const where = `${expected.channel} ${expected.attempts.at(-1)!.buildId}`
  const booked = messagesOf(world, world.stage.slack.messages, expected)
  const deleted = messagesOf(world, world.lost, expected)
  const isLost = deleted.some(({ slot }) => slot === 'card')
  const cards = booked.filter(({ slot }) => slot === 'card').sort((a, b) => a.generation - b.generation)
  const card = cards.at(-1)
  // A card that can no longer be edited was given up for a new one, and stays as it was.
  const givenUp = cards.slice(0, -1)
  if (!card) return isLost ? [] : [`no card: ${where}`]
  const extra = givenUp.filter(
    ({ message, generation }) => !isGivenUp(world, message) || generation === card.generation,
  )
  if (extra.length > 0) return [`${cards.length} cards instead of one: ${where}`]
  for (const { message } of cards) unexplained.delete(message)
  const story = expected.story(card.postedAttempt)
  const thread = { ...expected, where, booked, deleted, isLost, unexplained }
  return [
    ...judgeBirth(card),
    ...(staysAsItWas(world, card, isLost)
      ? []
      : [
          ...judgeCard(world, card, story.card, expected),
          ...judgeNaively(
            world,
            card,
            expected,
            streamEvents(world, expected.buildEvents[0]!, happened.buildEvents),
            where,
          ),
        ]),
    ...judgeMentions(thread, story.card),
    ...(cards.length > 1 || isLost || staysAsItWas(world, card, isLost) ? [] : judgeChannel(world, thread, card)),
    ...story.requests.flatMap(({ slot, view }) => judgeLine(world, thread, slot, view)),
    ...story.replies.flatMap(({ slot, view }) => judgeLine(world, thread, slot, view)),
  ]
}

const isGivenUp = ({ frozen }: World, { ts }: Shown): boolean => frozen.has(ts)

interface Thread extends Expected {
  where: string
  booked: readonly Booked[]
  deleted: readonly Booked[]
  isLost: boolean
  unexplained: Set<Shown>
}

// There is no third card: if the second cannot be edited either, or was deleted, the last state stays.
const staysAsItWas = ({ frozen }: World, { message, generation }: Booked, isLost: boolean): boolean =>
  frozen.has(message.ts) && (generation > 1 || isLost)

function judgeCard(world: World, { message }: Booked, wanted: CardView, expected: Expected): string[] {
  const { channel, attempts } = expected
  if (saysTheSame(world, message.view, wanted, expected)) return []
  return [
    `${channel} ${attempts.at(-1)!.buildId}: the card says ${JSON.stringify(message.view)} instead of ${JSON.stringify(wanted)}`,
  ]
}

/** Exactly once, except for messages that people deleted: those do not come back. */
function judgeLine(world: World, thread: Thread, wantedSlot: string, view: View): string[] {
  const { booked, deleted, isLost, unexplained, where } = thread
  const roots = new Set(deleted.map(({ message }) => message.ts))
  const lines = booked
    .filter(({ slot, message }) => slot === wantedSlot && !(message.thread !== null && roots.has(message.thread)))
    .map(({ message }) => message)
  const mayMiss = isLost || deleted.some(({ slot }) => slot === wantedSlot)
  if (lines.length > 1 || (lines.length === 0 && !mayMiss))
    return [`${where}: ${lines.length} times ${wantedSlot} instead of once: ${lines.map(brief).join('; ')}`]
  for (const line of lines) unexplained.delete(line)
  const wrong = isLost ? [] : lines.filter((line) => !saysTheSame(world, line.view, view, thread))
  return wrong.map((line) => `${where}: ${wantedSlot} says ${JSON.stringify(line.view)}, not ${JSON.stringify(view)}`)
}

/** The recorded attempt that a card announced must be what people saw, since it decides whether a reply is posted. */
function judgeBirth({ message: { first }, postedAttempt }: Booked): string[] {
  const { build, shown } = first as CardView
  const isGreen = shown === 'passed' || shown === 'fixed' || shown === 'flaky'
  const told = isGreen || (shown !== 'requested' && isFinal(shown)) ? build.buildId : null
  return (postedAttempt && shortId(postedAttempt.split('.')[0]!)) === told
    ? []
    : [`a card born as ${build.buildId} ${shown} is recorded as ${postedAttempt}`]
}

/** The same, read from the build events by the naive rules, without the product's code. */
function judgeNaively(
  world: World,
  { message: { view } }: Booked,
  { buildEvents, requests }: Expected,
  stream: readonly BuildEvent[],
  where: string,
): string[] {
  const { shown, attemptNumber, build } = view as CardView
  const naive = readNaively(buildEvents, stream, requests)
  const said = `${build.buildId} ${shown}, attempt ${attemptNumber}`
  const isSame = isGoneIn(world, buildEvents[0]!) ? apart(said) === apart(naive) : said === naive
  return isSame ? [] : [`${where}: the card says ${said}; the facts, read plainly, ${naive}`]
}

/**
 * Edits notify nobody. So the committer who broke the newest build must be mentioned once in a new message. Nobody is
 * mentioned for machine errors, or in channels that mention nobody.
 */
function judgeMentions({ subscription, attempts, booked, deleted, where }: Thread, card: CardView): string[] {
  const newest = attempts.at(-1)!
  const calls = (messages: readonly Booked[]) =>
    messages.map(({ message: { first } }) => first).filter((first) => isOfBuild(first) && first.mention === ADA)
  const called = calls(booked) as (CardView | ReplyView)[]
  const wrongly = called.filter(({ shown }) => shown !== 'failed' || subscription.mention !== 'committer')
  if (wrongly.length > 0) return [`${where}: somebody was called wrongly, ${wrongly.map(inBrief).join('; ')}`]
  const times = Map.groupBy(
    called,
    ({ kind, build, attemptNumber }) => `${kind} ${build.buildId} attempt ${attemptNumber}`,
  )
  const twice = [...times].filter(([, same]) => same.length > 1 && deleted.length === 0).map(([name]) => name)
  if (twice.length > 0) return [`${where}: called twice to ${twice.join(', ')}`]
  const isTheirFault =
    newest.status === 'failed' && newest.buildEvents.every(({ details }) => details.committer === 'Ada')
  if (subscription.mention !== 'committer' || !isTheirFault || card.build.committer !== 'Ada') return []
  const named = [...called, ...(calls(deleted) as CardView[])].some(
    ({ build }) => build.buildId === shortId(newest.buildId),
  )
  return named ? [] : [`${where}: nobody was called to the failure of ${newest.buildId}`]
}

const isGreen = (shown: string): boolean => ['passed', 'fixed', 'flaky'].includes(shown)

/**
 * A failure and its restarts are at most two messages of the channel: the card, and one line that goes on to say what
 * the card says (decision 21). A commit that passed first may have had a line for that.
 */
function judgeChannel({ frozen }: World, { booked, deleted, where }: Thread, { message: card }: Booked): string[] {
  const { shown, attemptNumber } = card.view as CardView
  const lines = booked.flatMap(({ message }) =>
    message.first.kind === 'reply' && message.first.broadcast ? [{ ...message, view: message.view as ReplyView }] : [],
  )
  const hasFailed = ({ view }: { view: ReplyView }) =>
    view.shown === 'failed' || view.shown === 'infrastructure_failure'
  const last = lines.toSorted((a, b) => (a.ts < b.ts ? -1 : 1)).slice(lines.findIndex(hasFailed) + 1)
  const isTwice = lines.some(hasFailed) ? last.length > 0 : lines.length > 1
  const isQueued = shown === 'queued' || shown === 'skipped'
  const others = lines.filter(({ view, ts }) => {
    const says = view.later ?? view
    // An earlier attempt that arrives late may show that a success was no news here: its line stays as it was.
    if (isQueued || frozen.has(ts) || (isGreen(says.shown) && isGreen(shown))) return false
    return says.shown !== shown || says.attemptNumber !== attemptNumber
  })
  return [
    ...(isTwice && deleted.length === 0 ? [`${where}: ${lines.length} lines in the channel`] : []),
    ...others.map(
      ({ view }) => `${where}: the channel reads ${JSON.stringify(view.later ?? view.shown)}, the card ${shown}`,
    ),
  ]
}

const isOfBuild = (view: View): view is CardView | ReplyView => view.kind === 'card' || view.kind === 'reply'

// Left out, since they depend on the moment: mentions, requests to claim a name, broadcasts and what they say later (`judgeChannel`), lateness, and links to
// earlier cards.
// CI may know to the second since when a branch is red, but not which attempt began it.
function saysTheSame(world: World, said: View, wanted: View, { branch, buildEvents }: Expected): boolean {
  const isAsked = branch.some(({ origin }) => origin === 'poll')
  const isGone = isGoneIn(world, buildEvents[0]!)
  const core = (view: View) => ({
    ...view,
    mention: null,
    claim: null,
    proposed: null,
    broadcast: null,
    later: null,
    ownership: null,
    isLate: null,
    replaces: null,
    ...('shown' in view && isGone ? { shown: apart(view.shown) } : {}),
    streak: 'streak' in view && view.streak && !isGone ? { ...view.streak, ...(isAsked ? { forMs: 0 } : {}) } : null,
  })
  return isDeepStrictEqual(core(said), core(wanted))
}

/** A stream that is gone is not red: what is said after that speaks of no streak. */
const isGoneIn = ({ scenario }: World, { projectId, branch }: BuildEvent): boolean =>
  scenario.chapters.some(({ gone }) => gone.has(streamName(projectId, branch ?? '')))

const apart = (shown: string): string => shown.replace('fixed', 'passed')

export const brief = ({ channel, ts, thread, key, view, postedAt }: Shown): string => {
  const attempt = isOfBuild(view) ? ` (attempt ${view.attemptNumber})` : ''
  return `${inBrief(view)}${attempt} in ${channel} at +${(postedAt - T0) / SECOND}s, ${ts} under ${thread}, ${key}`
}
