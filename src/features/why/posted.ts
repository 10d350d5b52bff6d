import type { Fact } from '../../domain/fact.ts'
import { newestOf, type StoredMessage } from '../../domain/plan.ts'
import { runKey, type Run } from '../../domain/run.ts'
import { noticeSubject } from '../../domain/subject.ts'
import type { Card, CardKey, KeptDecision } from '../../store/kept.ts'
import type { Reads } from '../../store/store.ts'
import type { Posted } from '../../catalog/outcomes.ts'

/**
 * What stands in Slack about one fact in the channel of a decision, as it is recorded.
 * @param runs of the revision that the facts belong to, oldest first
 */
export function createPosted(
  reads: Reads,
  runs: readonly Run[],
): (fact: Fact, decision: KeptDecision) => Promise<Posted[]> {
  const read = new Map<string, Promise<Standing>>()

  // Facts of one build share their cards.
  const standing = (key: CardKey) => {
    const name = `${key.subject} ${key.channel}`
    const found = read.get(name) ?? readStanding(reads, key)
    read.set(name, found)
    return found
  }

  return async (fact, { subject, channel, noticeDay }) => {
    const own = await standing({ subject, channel })
    const notice = noticeDay === null ? null : await standing({ subject: noticeSubject(noticeDay), channel })
    return [...cardOf('card', own), ...replyOf(fact, runs, own), ...(notice ? cardOf('notice', notice) : [])]
  }
}

interface Standing {
  messages: readonly StoredMessage[]
  card: Card | null
  decisions: readonly KeptDecision[]
}

async function readStanding(reads: Reads, key: CardKey): Promise<Standing> {
  const [messages, card, decisions] = await Promise.all([
    reads.messagesOf(key),
    reads.card(key),
    reads.decisionsOf(key),
  ])
  return { messages, card, decisions }
}

function cardOf(slot: string, { messages, card }: Standing): Posted[] {
  const posted = newestOf('card', messages)
  if (posted) return [toPosted(slot, posted, false)]
  const waits = card !== null && card.lanes.post !== null
  return waits ? [{ slot, state: 'waiting', ts: null, at: null, broadcast: false }] : []
}

function replyOf(fact: Fact, runs: readonly Run[], standing: Standing): Posted[] {
  const run = runOf(fact, runs)
  const slot = run && `run:${runKey(run)}`
  const reply = slot && newestOf(slot, standing.messages)
  return run && reply ? [toPosted(slot, reply, wasBroadcast(run, runs, reply, standing))] : []
}

/** As the reconciler decided when it claimed the reply: loud, not quiet, and of a run that no newer one had replaced. */
function wasBroadcast(run: Run, runs: readonly Run[], { claimedAt }: StoredMessage, standing: Standing): boolean {
  const isLoud = standing.decisions.some(({ factSeq, loud }) => factSeq === run.finalSeq && loud)
  const next = runs[runs.indexOf(run) + 1]
  const wasNewest = next === undefined || next.facts[0]!.at > claimedAt
  return isLoud && standing.card?.quiet === false && wasNewest
}

const toPosted = (slot: string, { state, ts, writtenAt }: StoredMessage, broadcast: boolean): Posted => ({
  slot,
  state: state === 'posted' || state === 'gone' ? state : 'waiting',
  ts,
  at: writtenAt,
  broadcast,
})

/** A repeated or late fact belongs to the run that it came in. */
const runOf = ({ buildId, seq }: Fact, runs: readonly Run[]): Run | undefined =>
  runs.findLast((run) => run.buildId === buildId && run.firstSeq <= seq)
