import type { Fact } from '../domain/fact.ts'
import type { ChannelId } from '../domain/ids.ts'
import { noticeView } from '../domain/notice.ts'
import {
  bornRunSaid,
  planNotice,
  planStory,
  replacedCard,
  type PlannedStep,
  type StoredMessage,
} from '../domain/plan.ts'
import { foldRuns, runKey, type Run } from '../domain/run.ts'
import { toStatus } from '../domain/status.ts'
import { parseSubject } from '../domain/subject.ts'
import { bornRunOf, NOTICE_BUILDS_MAX, tellStory, type Story } from '../domain/view.ts'
import { facilitiesOf, readRevision, recoveriesOf, type Interfaces } from '../store/history.ts'
import type { Card, KeptDecision } from '../store/kept.ts'
import type { Reads } from '../store/store.ts'

export interface CardPlan {
  steps: PlannedStep[]
  /** what a card posted now would tell by itself */
  bornRun: string | null
  /** when the newest fact was received (ms): what is told now is so old */
  heardAt: number
  /** that fact's place in the order of receipt, by which a log line can be followed back to its delivery */
  fact: number
}

/** Reads everything about one card fresh and plans what is left to do; empty when Slack already agrees. */
export async function planCard(
  reads: Reads,
  card: Card,
  messages: readonly StoredMessage[],
  { now, interfaces }: { now: number; interfaces: Interfaces },
): Promise<CardPlan> {
  const subject = parseSubject(card.subject)
  if (subject.kind === 'notice') return planDay(reads, subject.day, card.channel, messages, now)
  const { facts, runs, requests } = await readRevision(reads, subject.revisionKey, subject.episode)
  if (runs.length === 0) return NOTHING
  const decisions = await reads.decisionsOf(card)
  const bornRun = bornRunSaid(messages)
  const story = tellStory({
    runs,
    recoveries: await recoveriesOf(reads, runs),
    isTold: toldBy(decisions.filter(({ verdict }) => verdict === 'tell')),
    isLoud: toldBy(decisions.filter(({ loud }) => loud)),
    bornRun: bornRun === undefined ? bornRunOf(runs) : bornRun,
    quiet: card.quiet,
    mentionOf: card.mention ? await mentions(reads, runs) : () => null,
    replaces: replacedCard(messages),
    requests,
    facilities: await facilitiesOf(reads, runs, interfaces),
  })
  return {
    steps: planStory(calledBefore(story, runs, messages), messages, now),
    bornRun: bornRunOf(runs),
    ...newestOf(facts),
  }
}

// The card before this one told the same when it appeared, and called its committer: once is enough.
function calledBefore(story: Story, runs: readonly Run[], messages: readonly StoredMessage[]): Story {
  const isTold = messages.some(
    ({ slot, state, bornRun }) => slot === 'card' && state === 'gone' && bornRun === runKey(runs.at(-1)!),
  )
  return isTold ? { ...story, card: { ...story.card, mention: null } } : story
}

const NOTHING: CardPlan = { steps: [], bornRun: null, heardAt: 0, fact: 0 }

const newestOf = (facts: readonly Fact[]): Pick<CardPlan, 'heardAt' | 'fact'> => ({
  heardAt: Math.max(...facts.map(({ at }) => at)),
  fact: Math.max(...facts.map(({ seq }) => seq)),
})

const toldBy = (decisions: readonly KeptDecision[]) => {
  const told = new Set(decisions.map(({ factSeq }) => factSeq))
  return (run: Run): boolean => run.finalSeq !== null && told.has(run.finalSeq)
}

async function mentions(reads: Reads, runs: readonly Run[]) {
  const handles = [...new Set(runs.flatMap(({ details }) => details.committer ?? []))]
  const people = new Map<string, string | null>()
  for (const handle of handles) people.set(handle, await reads.personOf(handle))
  return (committer: string | null) => (committer === null ? null : (people.get(committer) ?? null))
}

async function planDay(
  reads: Reads,
  day: string,
  channel: ChannelId,
  messages: readonly StoredMessage[],
  now: number,
): Promise<CardPlan> {
  const { facts, counts } = await reads.noticeFacts(day, channel, NOTICE_BUILDS_MAX)
  if (facts.length === 0) return NOTHING
  const runs = facts.map((fact) => foldRuns([fact])[0]!)
  const count = (status: 'ignored' | 'blocked') =>
    [...counts].reduce((sum, [word, builds]) => (toStatus(word) === status ? sum + builds : sum), 0)
  const listed = (status: string) => runs.filter((run) => run.status === status).length
  const more = {
    ignored: Math.max(0, count('ignored') - listed('ignored')),
    blocked: Math.max(0, count('blocked') - listed('blocked')),
  }
  return { steps: planNotice(noticeView(day, runs, more), messages, now), bornRun: null, ...newestOf(facts) }
}
