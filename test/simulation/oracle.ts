import { decide } from '../../src/domain/decide.ts'
import { mergeDetails, type Fact } from '../../src/domain/fact.ts'
import type { ChannelId } from '../../src/domain/ids.ts'
import { revisionKey, placeFacts } from '../../src/domain/revision.ts'
import { noticeDay, noticeView } from '../../src/domain/notice.ts'
import { recoveryOf, type Recovery } from '../../src/domain/recovered.ts'
import { credible, isAttempt, restartsAsked, type Request } from '../../src/domain/request.ts'
import { foldBuild, foldRuns, runKey, type RestartAsked, type Run } from '../../src/domain/run.ts'
import { isRed } from '../../src/domain/status.ts'
import { noticeSubject } from '../../src/domain/subject.ts'
import { following, type Subscription } from '../../src/domain/subscription.ts'
import { tellStory, type NoticeView, type Story } from '../../src/domain/view.ts'
import type { Interfaces } from '../../src/store/history.ts'
import { BASIC } from './builds.ts'
import { cardName, type AskedFor } from './memory.ts'

// What Slack should say in the end, from all the facts at once: no store, no steps, no history that is cut.

/** All that was heard and asked, in the order of receipt, and who followed it when. */
export interface Happened {
  facts: readonly Fact[]
  requests: readonly AskedFor[]
  eras: readonly Era[]
  interfaces: Interfaces
}

/** Who follows what, for the facts up to this one. */
export interface Era {
  untilSeq: number
  untilAt: number
  subscriptions: readonly Subscription[]
}

export interface Expected {
  card: string
  channel: ChannelId
  subscription: Subscription
  runs: readonly Run[]
  /** its own facts, and all those of its branch */
  facts: readonly Fact[]
  branch: readonly Fact[]
  requests: readonly Request[]
  story: (bornRun: string | null) => Story
}

/** The cards that should stand. */
export const expectedCards = (happened: Happened): Expected[] =>
  revisionsOf(happened).flatMap((revision) => {
    const { own, card, runs, requests, recoveries, branch } = revision
    return toldIn(revision, happened).flatMap(({ channel, subscription, told }) => {
      if (told.every(({ reason }) => reason === 'account-notice')) return []
      const seqs = new Set(told.map(({ fact }) => fact.seq))
      const story = (bornRun: string | null) =>
        tellStory({
          runs,
          recoveries,
          isTold: ({ finalSeq }) => finalSeq !== null && seqs.has(finalSeq),
          isLoud: () => false,
          bornRun,
          quiet: false,
          mentionOf: () => null,
          replaces: null,
          requests,
          facilities: { ...happened.interfaces, project: projectOf(own[0]!) },
        })
      return [{ card, channel, subscription, runs, facts: own, branch, requests, story }]
    })
  })

export interface ExpectedNotice {
  card: string
  channel: ChannelId
  view: NoticeView
}

/** The account notices that should stand. */
export function expectedNotices(happened: Happened): ExpectedNotice[] {
  const noted = revisionsOf(happened).flatMap((revision) =>
    toldIn({ ...revision, recoveries: new Map() }, happened).flatMap(({ channel, told }) =>
      told
        .filter(({ reason }) => reason === 'account-notice')
        .map(({ fact }) => ({ fact, channel, day: noticeDay(fact.at) })),
    ),
  )
  return [...Map.groupBy(noted, ({ channel, day }) => `${channel} ${day}`).values()].map((same) => {
    const inOrder = same.toSorted((a, b) => a.fact.seq - b.fact.seq)
    const runs = inOrder.map(({ fact }) => foldRuns([fact])[0]!)
    const { channel, day } = same[0]!
    return { card: noticeSubject(day), channel, view: noticeView(day, runs) }
  })
}

/** One card's worth of a revision. */
interface Revision {
  card: string
  own: readonly Fact[]
  /** those of its other cards too */
  all: readonly Fact[]
  branch: readonly Fact[]
  runs: readonly Run[]
  requests: readonly Request[]
  asked: readonly RestartAsked[]
  recoveries: ReadonlyMap<string, Recovery>
}

/** The revisions of all that was heard, card by card. */
export function revisionsOf({ facts, requests, eras }: Happened): Revision[] {
  const asked = restartsAsked(requests)
  const counting = credible(facts, requests)
  return [...Map.groupBy(facts, revisionOf).values()].flatMap((all) => {
    const key = revisionKey(all[0]!)
    const branch = counting.filter((fact) => branchOf(fact) === branchOf(all[0]!))
    const aboutRevision = requests.filter((request) => request.revisionKey === key)
    return episodesOf(all, restartsAsked(aboutRevision)).map((placed) => {
      const card = cardName(placed[0]!.seq)
      const isFirstEra = placed[0]!.seq <= eras[0]!.untilSeq
      const aboutIt = aboutRevision.filter(({ isForgotten }) => isFirstEra || !isForgotten)
      const own = credible(placed, aboutIt)
      const runs = foldRuns(own, asked)
      const isAbout = (request: AskedFor) =>
        request.card === card || runs.some((run) => isAttempt(request, run, aboutIt))
      const recoveries = recoveriesAmong(runs, foldRuns(branch, asked))
      return { card, own, all, branch, runs, requests: aboutIt.filter(isAbout), asked, recoveries }
    })
  })
}

function episodesOf(facts: readonly Fact[], asked: readonly RestartAsked[]): Fact[][] {
  const { placed } = placeFacts(
    facts.map((fact) => ({ ...fact, episode: null })),
    null,
    asked,
  )
  return [...Map.groupBy(facts, ({ seq }) => placed.get(seq)!).values()]
}

const revisionOf = ({ projectId, branch, commitId }: Fact): string => `${projectId} ${branch} ${commitId}`
const branchOf = ({ projectId, branch }: Fact): string => `${projectId} ${branch}`

/** What CI lists. */
const projectOf = ({ projectId }: Fact) => (projectId === BASIC.legacyId ? BASIC : null)

// Two runs of one name, on two cards of a build that rested, are told apart by the fact that ended them.
function recoveriesAmong(runs: readonly Run[], history: readonly Run[]): Map<string, Recovery> {
  const recoveries = runs.map((run) => [runKey(run), recoveryOf(run, history)] as const)
  return new Map(recoveries.filter((pair): pair is readonly [string, Recovery] => pair[1] !== null))
}

interface Told {
  channel: ChannelId
  subscription: Subscription
  told: { fact: Fact; reason: string }[]
}

/** What each channel is told of a revision: a fact is decided once, when there is news of the revision. */
function toldIn(revision: Revision, { eras }: Happened): Told[] {
  const channels = new Map<ChannelId, Told & { decided: Set<number> }>()
  eras.forEach((era, i) => {
    const sinceSeq = eras[i - 1]?.untilSeq ?? 0
    const sinceAt = eras[i - 1]?.untilAt ?? 0
    const heard = revision.own.filter(({ seq }) => seq <= era.untilSeq)
    const isNews =
      heard.some(({ seq }) => seq > sinceSeq) ||
      revision.branch.some((fact) => fact.seq > sinceSeq && fact.seq <= era.untilSeq && isTurning(fact, revision)) ||
      revision.requests.some(({ askedAt }) => askedAt > sinceAt && askedAt <= era.untilAt)
    if (!isNews || heard.length === 0) return
    // What one delivery leaves out, another one of the commit may have said.
    const named = revision.all.filter(({ seq }) => seq <= era.untilSeq)
    const followers = Map.groupBy(subscribers(named, era.subscriptions), ({ channel }) => channel)
    for (const [channel, subscriptions] of followers) {
      const known = channels.get(channel) ?? { channel, subscription: subscriptions[0]!, told: [], decided: new Set() }
      channels.set(channel, known)
      const open = new Set(heard.filter(({ seq }) => !known.decided.has(seq)))
      known.told.push(...tellsOf(revision, subscriptions).filter(({ fact }) => open.has(fact)))
      for (const { seq } of open) known.decided.add(seq)
    }
  })
  return [...channels.values()]
}

/** An older build's failure may make a recovery of what passed: it is looked at again. */
const isTurning = ({ status, buildId }: Fact, { runs }: Revision): boolean =>
  isRed(status) && runs.some((run) => Number(run.buildId) > Number(buildId) && (run.status === 'success' || run.n > 1))

function subscribers(own: readonly Fact[], subscriptions: readonly Subscription[]): Subscription[] {
  const { projectUuid, projectName, projectFullName } = mergeDetails(own)
  return following(subscriptions, { projectId: own[0]!.projectId, projectUuid, names: [projectName, projectFullName] })
}

function tellsOf({ own, runs, recoveries, asked }: Revision, subscriptions: readonly Subscription[]) {
  const recovered = new Set(runs.filter((run) => recoveries.has(runKey(run))).map(({ finalSeq }) => finalSeq))
  return [...Map.groupBy(own, ({ buildId }) => buildId).values()].flatMap((facts) => {
    const { effects } = foldBuild(facts, asked)
    return facts.flatMap((fact, i) => {
      const { branch, status } = fact
      const question = { branch, status, effect: effects[i]!, recovered: recovered.has(fact.seq), hasCard: false }
      const { verdict, reason } = decide(question, subscriptions, null)
      return verdict === 'tell' ? [{ fact, reason }] : []
    })
  })
}
