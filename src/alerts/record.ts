import { isFinalFact, mergeDetails, toFact, type Fact, type Observation, type Recorded } from '../domain/fact.ts'
import { revisionKey } from '../domain/revision.ts'
import { restartsAsked } from '../domain/request.ts'
import { effectsOf } from '../domain/run.ts'
import { isRed, isFinal, toStatus } from '../domain/status.ts'
import type { Clock } from '../lib/clock.ts'
import type { Store, Tx } from '../store/store.ts'

/**
 * A build that ends is told to its end. One that says ever new words and never ends would make its card larger without
 * bound: beyond so many facts what it says is counted, until it says how it ended. A build has about three.
 */
export const UNENDED_FACTS_MAX = 500

export interface RecordDelivery {
  store: Pick<Store, 'write'>
  clock: Clock
  /** a hint that a revision has news; it may be lost, the sweep finds what was missed */
  wake: (revisionKey: string) => void
}

/**
 * Stores one delivery and what it says of a build, durably, and says whether the same was said before. Resolves after it
 * is on disk; rejects when it is not, and then nothing of it is stored. A repetition is counted on the fact it repeats.
 */
export async function recordDelivery(
  { store, clock, wake }: RecordDelivery,
  delivery: { seen: Observation; body: string },
): Promise<Recorded> {
  const recorded = await store.write((tx) => record(tx, delivery, clock.now()))
  if (recorded.answer === 'recorded') wake(recorded.revisionKey)
  return recorded
}

async function record(tx: Tx, { seen, body }: { seen: Observation; body: string }, at: number): Promise<Recorded> {
  const known = await tx.factsOfBuild(seen.projectId, seen.buildId)
  const isOnlyCounted = isEndless(known, seen)
  const answer = isOnlyCounted || (await isRepeated(tx, seen, known, at)) ? 'duplicate' : 'recorded'
  // Facts of one build stay together even where some of them leave out the branch or the commit.
  const branch = seen.branch ?? known.findLast((fact) => fact.branch !== null)?.branch ?? null
  const commitId = seen.commitId ?? known.findLast((fact) => fact.commitId !== null)?.commitId ?? null
  const key = known[0]?.revisionKey ?? revisionKey({ ...seen, branch, commitId })
  let factSeq: number
  if (isOnlyCounted || (answer === 'duplicate' && !knowsMore(seen, known))) {
    factSeq = known.at(-1)!.seq
    await tx.countRepeat(factSeq)
  } else {
    const where = {
      at,
      origin: 'delivery',
      priority: urgencyOf(seen.word),
      revisionKey: key,
      branch,
      commitId,
    } as const
    factSeq = await tx.insertFact(seen, where)
  }
  const deliveryId = await tx.insertDelivery({ receivedAt: at, answer, factSeq, body })
  return { answer, deliveryId, factSeq, revisionKey: key }
}

const isEndless = (known: readonly Fact[], { word }: Observation): boolean =>
  known.length >= UNENDED_FACTS_MAX && !isFinal(toStatus(word)) && !known.some(isFinalFact)

async function isRepeated(tx: Tx, seen: Observation, known: readonly Fact[], at: number): Promise<boolean> {
  // What we had CI do is not yet CI's own word of it.
  if (known.length === 0 || known.at(-1)!.origin === 'action') return false
  const facts = [...known, toFact(seen, Number.MAX_SAFE_INTEGER, at)]
  if (effectsOf(facts).at(-1) !== 'duplicate') return false
  // What looks like a late start said twice may be the start that somebody asked for.
  const asked = restartsAsked(await tx.restartsOf(seen.projectId, seen.buildId))
  return asked.length === 0 || effectsOf(facts, asked).at(-1) === 'duplicate'
}

// A repetition may bring what was missing, such as the uuids that only a build step can know.
const knowsMore = (seen: Observation, known: readonly Observation[]): boolean =>
  JSON.stringify(mergeDetails([seen, ...known])) !== JSON.stringify(mergeDetails(known))

// Failures first, then what has ended, then what has begun.
function urgencyOf(word: string): number {
  const status = toStatus(word)
  return isRed(status) ? 0 : isFinal(status) ? 1 : 2
}
