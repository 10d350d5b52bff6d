import { decide } from '../../src/domain/rules/decide.ts'
import { mergeDetails, type BuildEvent, revisionKey } from '../../src/domain/builds/build-event.ts'
import type { ChannelId } from '../../src/domain/ids.ts'
import { placeEvents, noticeSubject } from '../../src/domain/builds/revision.ts'
import { noticeDay, noticeView, type NoticeView } from '../../src/domain/cards/view.ts'
import { breaks, recoveryOf, extentTo, type Judgement } from '../../src/domain/builds/streak.ts'
import { credible, isResultOf, restartRequests, type Request } from '../../src/domain/cards/request.ts'
import { foldBuild, foldAttempts, type RestartRequest, type Attempt } from '../../src/domain/builds/attempt.ts'
import { isRed, isVerdict } from '../../src/domain/builds/status.ts'
import { hasStreak } from '../../src/domain/builds/stream.ts'
import { following, type Subscription } from '../../src/domain/rules/subscription.ts'
import { storyFor, type Story } from '../../src/domain/cards/story.ts'
import { capabilitiesOf, type Configured } from '../../src/domain/cards/capabilities.ts'
import { BASIC } from './builds.ts'
import { HOSTED } from './hosted.ts'
import { cardName, type AskedFor } from './memory.ts'

// What Slack should show in the end, from all build events at once: without a store, steps or retention.

/** All events and requests in order of receipt, and the subscriptions at each time. */
export interface Happened {
  buildEvents: readonly BuildEvent[]
  requests: readonly AskedFor[]
  eras: readonly Era[]
  configured: Configured
}

/** The subscriptions in force for build events up to this one. */
export interface Era {
  untilSeq: number
  untilAt: number
  subscriptions: readonly Subscription[]
}

export interface Expected {
  card: string
  channel: ChannelId
  subscription: Subscription
  attempts: readonly Attempt[]
  /** the card's own build events, and all of its branch */
  buildEvents: readonly BuildEvent[]
  branch: readonly BuildEvent[]
  requests: readonly Request[]
  story: (postedAttempt: string | null) => Story
}

/** The cards that should exist. */
export const expectedCards = (happened: Happened): Expected[] =>
  revisionsOf(happened).flatMap((revision) => {
    const { own, card, attempts, requests, judgements, branch } = revision
    return toldIn(revision, happened).flatMap(({ channel, subscription, told }) => {
      if (told.every(({ reason }) => reason === 'account-notice')) return []
      const seqs = new Set(told.map(({ buildEvent }) => buildEvent.seq))
      const story = (postedAttempt: string | null) =>
        storyFor({
          attempts,
          judgements,
          failures: new Map(),
          isAnnounced: ({ finalSeq }) => finalSeq !== null && seqs.has(finalSeq),
          isLoud: () => false,
          postedAttempt,
          quiet: false,
          mentionOf: () => null,
          isUnclaimed: () => false,
          proposed: null,
          replaces: null,
          ownership: null,
          changes: [],
          reminders: new Map(),
          requests,
          capabilities: capabilitiesOf(attempts.at(-1)!, requests, happened.configured, projectOf(own[0]!)),
        })
      return [{ card, channel, subscription, attempts, buildEvents: own, branch, requests, story }]
    })
  })

export interface ExpectedNotice {
  card: string
  channel: ChannelId
  view: NoticeView
}

/** The notices that should exist. */
export function expectedNotices(happened: Happened): ExpectedNotice[] {
  const noted = revisionsOf(happened).flatMap((revision) =>
    toldIn({ ...revision, judgements: new Map() }, happened).flatMap(({ channel, told }) =>
      told
        .filter(({ reason }) => reason === 'account-notice')
        .map(({ buildEvent }) => ({ buildEvent, channel, day: noticeDay(buildEvent.at) })),
    ),
  )
  return [...Map.groupBy(noted, ({ channel, day }) => `${channel} ${day}`).values()].map((same) => {
    const inOrder = same.toSorted((a, b) => a.buildEvent.seq - b.buildEvent.seq)
    const attempts = inOrder.map(({ buildEvent }) => foldAttempts([buildEvent])[0]!)
    const { channel, day } = same[0]!
    return { card: noticeSubject(day), channel, view: noticeView(day, attempts) }
  })
}

/** The part of a revision on one card. */
interface Revision {
  card: string
  own: readonly BuildEvent[]
  /** those of its other cards too */
  all: readonly BuildEvent[]
  branch: readonly BuildEvent[]
  attempts: readonly Attempt[]
  requests: readonly Request[]
  asked: readonly RestartRequest[]
  /** what each attempt did to its branch, by its final build event; the streak of a red one only of the newest */
  judgements: ReadonlyMap<number, Judgement>
}

/** The revisions of all events, card by card. */
export function revisionsOf({ buildEvents, requests, eras }: Happened): Revision[] {
  const asked = restartRequests(requests)
  const counting = credible(buildEvents, requests)
  return [...Map.groupBy(buildEvents, revisionOf).values()].flatMap((all) => {
    const key = revisionKey(all[0]!)
    const stream = counting.filter((buildEvent) => branchOf(buildEvent) === branchOf(all[0]!))
    const aboutRevision = requests.filter((request) => request.revisionKey === key)
    return cardNumbersOf(all, restartRequests(aboutRevision)).map((placed) => {
      const card = cardName(placed[0]!.seq)
      const isFirstEra = placed[0]!.seq <= eras[0]!.untilSeq
      const aboutIt = aboutRevision.filter(({ isForgotten }) => isFirstEra || !isForgotten)
      const own = credible(placed, aboutIt)
      const attempts = foldAttempts(own, asked)
      const isAbout = (request: AskedFor) =>
        request.card === card || attempts.some((attempt) => isResultOf(request, attempt, aboutIt))
      const isOwn = new Set(placed.map(({ seq }) => seq))
      const branch = hasStreak(all[0]!.branch ?? '') ? stream : own
      const inTime = branch.filter((one) => !isOvertaken(one, branch))
      const history = foldAttempts(
        branch.filter((one) => isOwn.has(one.seq) || inTime.includes(one)),
        asked,
      )
      // The jobs of a newer build may change one red end into another later on: it had ended before, all the same.
      const timely = attempts.filter((attempt) => !inTime.some((one) => hadEndedBefore(one, attempt)))
      const judgements = judgementsAmong(timely, history)
      const newest = attempts.at(-1)!
      const red = isRed(newest.status) ? extentTo(newest, foldAttempts(inTime, asked), false) : null
      if (red)
        judgements.set(newest.finalSeq!, { change: judgements.get(newest.finalSeq!)?.change ?? null, streak: red })
      return {
        card,
        own,
        all,
        branch,
        attempts,
        requests: aboutIt.filter(isAbout),
        asked,
        judgements,
      }
    })
  })
}

const hadEndedBefore = ({ status, buildOrder, seq, details }: BuildEvent, { finalSeq, ...attempt }: Attempt): boolean =>
  isVerdict(status) && details.attempt !== null && buildOrder > attempt.buildOrder && seq < (finalSeq ?? 0)

function cardNumbersOf(buildEvents: readonly BuildEvent[], asked: readonly RestartRequest[]): BuildEvent[][] {
  const { placed } = placeEvents(
    buildEvents.map((buildEvent) => ({ ...buildEvent, cardNumber: null })),
    null,
    asked,
  )
  return [...Map.groupBy(buildEvents, ({ seq }) => placed.get(seq)!).values()]
}

const revisionOf = ({ projectId, branch, commitId, buildId }: BuildEvent): string =>
  `${projectId} ${branch} ${commitId ?? buildId}`
const branchOf = ({ projectId, branch }: BuildEvent): string => `${projectId} ${branch}`

function judgementsAmong(attempts: readonly Attempt[], history: readonly Attempt[]): Map<number, Judgement> {
  const judgements = new Map<number, Judgement>()
  for (const attempt of attempts) {
    const streak = recoveryOf(attempt, history)
    if (streak) judgements.set(attempt.finalSeq!, { change: 'recovered', streak })
    if (breaks(attempt, history)) judgements.set(attempt.finalSeq!, { change: 'broken', streak: null })
  }
  return judgements
}

/** What the bot knows of it. */
const projectOf = ({ projectId }: BuildEvent) =>
  [BASIC, ...HOSTED].find(({ legacyId }) => legacyId === projectId) ?? null

interface StepResult {
  channel: ChannelId
  subscription: Subscription
  told: { buildEvent: BuildEvent; reason: string }[]
}

/** What each channel gets of a revision. Each event is decided once, when its revision is ingested with news. */
function toldIn(revision: Revision, { eras }: Happened): StepResult[] {
  const channels = new Map<ChannelId, StepResult & { decided: Set<number> }>()
  eras.forEach((era, i) => {
    const sinceSeq = eras[i - 1]?.untilSeq ?? 0
    const sinceAt = eras[i - 1]?.untilAt ?? 0
    const heard = revision.own.filter(({ seq }) => seq <= era.untilSeq)
    const isNews =
      heard.some(({ seq }) => seq > sinceSeq) ||
      revision.branch.some(
        (buildEvent) => buildEvent.seq > sinceSeq && buildEvent.seq <= era.untilSeq && isTurning(buildEvent, revision),
      ) ||
      revision.requests.some(({ requestedAt }) => requestedAt > sinceAt && requestedAt <= era.untilAt)
    if (!isNews || heard.length === 0) return
    // Another delivery of the commit may have what one leaves out.
    const named = revision.all.filter(({ seq }) => seq <= era.untilSeq)
    const followers = Map.groupBy(subscribers(named, era.subscriptions), ({ channel }) => channel)
    for (const [channel, subscriptions] of followers) {
      const known = channels.get(channel) ?? { channel, subscription: subscriptions[0]!, told: [], decided: new Set() }
      channels.set(channel, known)
      const open = new Set(heard.filter(({ seq }) => !known.decided.has(seq)))
      known.told.push(...tellsOf(revision, subscriptions).filter(({ buildEvent }) => open.has(buildEvent)))
      for (const { seq } of open) known.decided.add(seq)
    }
  })
  return [...channels.values()]
}

/** An older build's outcome can change the meaning of a newer one, which is then decided again. */
const isTurning = ({ status, buildOrder }: BuildEvent, { attempts }: Revision): boolean =>
  isVerdict(status) &&
  attempts.some((attempt) => attempt.buildOrder > buildOrder && (isVerdict(attempt.status) || attempt.n > 1))

function subscribers(own: readonly BuildEvent[], subscriptions: readonly Subscription[]): Subscription[] {
  const { projectUuid, projectName, projectFullName } = mergeDetails(own)
  return following(subscriptions, { projectId: own[0]!.projectId, projectUuid, names: [projectName, projectFullName] })
}

function tellsOf({ own, judgements, asked }: Revision, subscriptions: readonly Subscription[]) {
  return [...Map.groupBy(own, ({ buildId }) => buildId).values()].flatMap((buildEvents) => {
    const { effects } = foldBuild(buildEvents, asked)
    return buildEvents.flatMap((buildEvent, i) => {
      const { branch, status } = buildEvent
      const question = {
        branch,
        status,
        effect: effects[i]!,
        change: judgements.get(buildEvent.seq)?.change ?? null,
        hasCard: false,
      }
      const { verdict, reason } = decide(question, subscriptions, null)
      return verdict === 'post' ? [{ buildEvent, reason }] : []
    })
  })
}

/**
 * An end of an attempt lengthens no streak if a later attempt of its build was known before: that one's end decides, and
 * comes soon.
 */
export const isOvertaken = (
  { seq, buildId, details: { attempt } }: BuildEvent,
  events: readonly BuildEvent[],
): boolean =>
  attempt !== null &&
  events.some((one) => one.buildId === buildId && one.seq < seq && (one.details.attempt ?? 0) > attempt)
