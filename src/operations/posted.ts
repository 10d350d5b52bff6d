import type { Fact } from '../domain/fact.ts'
import { newestOf, type StoredMessage } from '../domain/plan.ts'
import { runKey, type Run } from '../domain/run.ts'
import { noticeSubject } from '../domain/subject.ts'
import type { CardKey, KeptDecision, Reads } from '../store/store.ts'
import type { Posted } from './asked.ts'

/**
 * What stands in Slack about one fact in the channel of a decision, as it is recorded.
 * @param runs of the lineage that the facts belong to
 */
export function createPosted(
  reads: Reads,
  runs: readonly Run[],
): (fact: Fact, decision: KeptDecision) => Promise<Posted[]> {
  const read = new Map<string, Promise<{ messages: readonly StoredMessage[]; waits: boolean }>>()

  // Facts of one build share their cards.
  const standing = (key: CardKey) => {
    const name = `${key.subject} ${key.channel}`
    const found = read.get(name) ?? readStanding(reads, key)
    read.set(name, found)
    return found
  }

  return async (fact, { subject, channel, noticeDay }) => {
    const { messages, waits } = await standing({ subject, channel })
    const notice = noticeDay === null ? null : await standing({ subject: noticeSubject(noticeDay), channel })
    return [
      ...cardOf('card', messages, waits),
      ...replyOf(runOf(fact, runs), messages),
      ...(notice ? cardOf('notice', notice.messages, notice.waits) : []),
    ]
  }
}

async function readStanding(reads: Reads, key: CardKey) {
  const [messages, card] = await Promise.all([reads.messagesOf(key), reads.card(key)])
  return { messages, waits: card !== null && card.lanes.post !== null }
}

function cardOf(slot: string, messages: readonly StoredMessage[], waits: boolean): Posted[] {
  const card = newestOf('card', messages)
  if (card) return [toPosted(slot, card)]
  return waits ? [{ slot, state: 'waiting', ts: null, at: null }] : []
}

function replyOf(run: Run | undefined, messages: readonly StoredMessage[]): Posted[] {
  const slot = run && `run:${runKey(run)}`
  const reply = slot && newestOf(slot, messages)
  return reply ? [toPosted(slot, reply)] : []
}

const toPosted = (slot: string, { state, ts, writtenAt }: StoredMessage): Posted => ({
  slot,
  state: state === 'posted' || state === 'gone' ? state : 'waiting',
  ts,
  at: writtenAt,
})

/** A repeated or late fact belongs to the run that it came in. */
const runOf = ({ buildId, seq }: Fact, runs: readonly Run[]): Run | undefined =>
  runs.findLast((run) => run.buildId === buildId && run.firstSeq <= seq)
