import { decide } from '../../src/domain/decide.ts'
import { mergeDetails, type Fact } from '../../src/domain/fact.ts'
import type { ChannelId } from '../../src/domain/ids.ts'
import { noticeDay, noticeView } from '../../src/domain/notice.ts'
import { recoveryOf, type Recovery } from '../../src/domain/recovered.ts'
import { restartsAsked, type Request } from '../../src/domain/request.ts'
import { foldBuild, foldRuns, runKey, type RestartAsked, type Run } from '../../src/domain/run.ts'
import { following, type Subscription } from '../../src/domain/subscription.ts'
import { tellStory, type NoticeView, type Story } from '../../src/domain/view.ts'
import type { Interfaces } from '../../src/store/history.ts'
import { BASIC } from './people.ts'

// What Slack should say in the end, from all the facts at once: no store, no steps, no history that is cut.

/** All that was heard and asked, in the order of receipt, and who follows it. */
export interface Happened {
  facts: readonly Fact[]
  requests: readonly Request[]
  subscriptions: readonly Subscription[]
  interfaces: Interfaces
}

export interface Expected {
  channel: ChannelId
  subscription: Subscription
  runs: readonly Run[]
  story: (bornRun: string | null) => Story
}

/** The cards that should stand. */
export function expectedCards({ facts, requests, subscriptions, interfaces }: Happened): Expected[] {
  const asked = restartsAsked(requests)
  return [...Map.groupBy(facts, lineageOf).values()].flatMap((own) => {
    const runs = foldRuns(own, asked)
    const branch = facts.filter((fact) => branchOf(fact) === branchOf(own[0]!))
    const recoveries = recoveriesAmong(runs, foldRuns(branch, asked))
    const builds = new Set(runs.map(({ buildId }) => buildId))
    const aboutThem = requests.filter((request) => builds.has(request.buildId))
    return subscribers(own, subscriptions).flatMap((subscription) => {
      const told = toldFacts(own, runs, { recoveries, asked }, subscription)
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
          requests: aboutThem,
          facilities: { ...interfaces, project: projectOf(own[0]!) },
        })
      return [{ channel: subscription.channel, subscription, runs, story }]
    })
  })
}

/** The account notices that should stand. */
export function expectedNotices({
  facts,
  requests,
  subscriptions,
}: Happened): { channel: ChannelId; view: NoticeView }[] {
  const asked = restartsAsked(requests)
  const noted = [...Map.groupBy(facts, lineageOf).values()].flatMap((own) =>
    subscribers(own, subscriptions).flatMap((subscription) =>
      toldFacts(own, foldRuns(own, asked), { recoveries: new Map(), asked }, subscription)
        .filter(({ reason }) => reason === 'account-notice')
        .map(({ fact }) => ({ fact, channel: subscription.channel, day: noticeDay(fact.at) })),
    ),
  )
  return [...Map.groupBy(noted, ({ channel, day }) => `${channel} ${day}`).values()].map((same) => {
    const inOrder = same.toSorted((a, b) => a.fact.seq - b.fact.seq)
    const runs = inOrder.map(({ fact }) => foldRuns([fact])[0]!)
    return { channel: same[0]!.channel, view: noticeView(same[0]!.day, runs) }
  })
}

const lineageOf = ({ projectId, branch, commitId }: Fact): string => `${projectId} ${branch} ${commitId}`
const branchOf = ({ projectId, branch }: Fact): string => `${projectId} ${branch}`

/** What CI lists. */
const projectOf = ({ projectId }: Fact) => (projectId === BASIC.legacyId ? BASIC : null)

function recoveriesAmong(runs: readonly Run[], history: readonly Run[]): Map<string, Recovery> {
  const recoveries = runs.map((run) => [runKey(run), recoveryOf(run, history)] as const)
  return new Map(recoveries.filter((pair): pair is readonly [string, Recovery] => pair[1] !== null))
}

function subscribers(own: readonly Fact[], subscriptions: readonly Subscription[]): Subscription[] {
  const { projectUuid, projectName, projectFullName } = mergeDetails(own)
  return following(subscriptions, { projectId: own[0]!.projectId, projectUuid, names: [projectName, projectFullName] })
}

function toldFacts(
  own: readonly Fact[],
  runs: readonly Run[],
  { recoveries, asked }: { recoveries: ReadonlyMap<string, Recovery>; asked: readonly RestartAsked[] },
  subscription: Subscription,
) {
  const recovered = new Set(runs.filter((run) => recoveries.has(runKey(run))).map(({ finalSeq }) => finalSeq))
  return [...Map.groupBy(own, ({ buildId }) => buildId).values()].flatMap((facts) => {
    const { effects } = foldBuild(facts, asked)
    return facts.flatMap((fact, i) => {
      const { branch, status } = fact
      const question = { branch, status, effect: effects[i]!, recovered: recovered.has(fact.seq), hasCard: false }
      const { verdict, reason } = decide(question, [subscription], null)
      return verdict === 'tell' ? [{ fact, reason }] : []
    })
  })
}
