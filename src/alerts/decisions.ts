import { boundForOneEvent, decide, type Decision, type Known } from '../domain/decide.ts'
import type { Fact } from '../domain/fact.ts'
import type { ChannelId } from '../domain/ids.ts'
import type { PlacedFact } from '../domain/revision.ts'
import { noticeDay } from '../domain/notice.ts'
import { credible, restartsAsked, type Request } from '../domain/request.ts'
import { effectsOf, foldRuns, type Effect, type RestartAsked, type Run } from '../domain/run.ts'
import { revisionSubject } from '../domain/subject.ts'
import type { Subscription } from '../domain/subscription.ts'
import { recoveriesOf } from '../store/history.ts'
import type { KeptDecision } from '../store/kept.ts'
import type { Tx } from '../store/store.ts'

/** One card's worth of a revision. */
export interface Episode {
  revisionKey: string
  episode: number
}

/** Decides for each fact and channel that has no decision yet, and keeps it with its reason. */
export async function decideEpisode(
  tx: Tx,
  { revisionKey, episode, known, requests, now }: Episode & { known: Known; requests: readonly Request[]; now: number },
): Promise<{ runs: Run[]; decisions: KeptDecision[] }> {
  const facts = credible(await tx.factsOfEpisode(revisionKey, episode), requests)
  const asked = restartsAsked(requests)
  const runs = foldRuns(facts, asked)
  const recoveries = await recoveriesOf(tx, runs)
  const recovered = new Set(
    runs.filter(({ buildId, n }) => recoveries.has(`${buildId}.${n}`)).map(({ finalSeq }) => finalSeq),
  )
  const effects = effectsBySeq(facts, asked)
  const subject = revisionSubject(revisionKey, episode)
  const made: KeptDecision[] = []
  const bound = boundForOneEvent(known)
  for (const [channel, subscriptions] of byChannel(bound.subscriptions)) {
    const kept = new Map((await tx.decisionsOf({ subject, channel })).map((decision) => [decision.factSeq, decision]))
    let hasCard = [...kept.values()].some(opensCard)
    for (const fact of facts) {
      const isRecovered = recovered.has(fact.seq)
      if (kept.get(fact.seq)?.recovered === isRecovered) continue
      const effect = effects.get(fact.seq)!
      const question = { branch: fact.branch, status: fact.status, effect, recovered: isRecovered, hasCard }
      const decision = decide(question, subscriptions, bound.rules)
      const day = decision.reason === 'account-notice' ? noticeDay(fact.at) : null
      made.push(keep(decision, { fact, channel, subject, recovered: isRecovered, day, now }))
      hasCard ||= opensCard(made.at(-1)!)
    }
  }
  for (const decision of made) await tx.keepDecision(decision)
  return { runs, decisions: made }
}

interface Kept {
  fact: Fact
  channel: ChannelId
  subject: string
  recovered: boolean
  day: string | null
  now: number
}

const keep = (decision: Decision, { fact, channel, subject, recovered, day, now }: Kept): KeptDecision => ({
  ...decision,
  factSeq: fact.seq,
  channel,
  subject,
  recovered,
  noticeDay: day,
  decidedAt: now,
})

/** Account trouble has its own notice: it never opens a card, it only changes one that is there. */
export const opensCard = ({ verdict, reason }: Decision): boolean => verdict === 'tell' && reason !== 'account-notice'

const effectsBySeq = (facts: readonly PlacedFact[], asked: readonly RestartAsked[]): Map<number, Effect> =>
  new Map(
    [...Map.groupBy(facts, ({ buildId }) => buildId).values()].flatMap((own) =>
      effectsOf(own, asked).map((effect, i) => [own[i]!.seq, effect] as const),
    ),
  )

const byChannel = (subscriptions: readonly Subscription[]) => Map.groupBy(subscriptions, ({ channel }) => channel)
