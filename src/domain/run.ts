import { mergeDetails, type BuildDetails, type Fact } from './fact.ts'
import { idOrder, type BuildId } from './ids.ts'
import { isFinal, type Status } from './status.ts'

/** A started that comes so long after a final is a new run, not a late delivery. */
export const LATE_START_MS = 60_000

/** One execution of a build, folded from its facts. Times in ms; `null` where the fact has not come. */
export interface Run {
  buildId: BuildId
  /** 1 for the first run of this build id */
  n: number
  status: Status
  /** CI's word for the status, which is all we know of an `unknown` one */
  word: string
  /** when we first heard of the run, of its start, and of its end */
  firstAt: number
  startedAt: number | null
  finalAt: number | null
  /** place in the order of receipt of the fact that opened and of the one that ended the run */
  firstSeq: number
  finalSeq: number | null
  facts: readonly Fact[]
  /** CI itself has said something of it, by a delivery or when asked: not only our own request stands for it */
  isHeard: boolean
  details: BuildDetails
}

/** What one fact did to its build: only `opened` and `moved` change what anybody sees. */
export type Effect = 'opened' | 'moved' | 'duplicate' | 'late'

/** Somebody asked for a restart of this build through us; it makes the next started a new run. */
export interface RestartAsked {
  buildId: BuildId
  at: number
}

/**
 * Folds the facts of ONE build id, in order of receipt, into its runs, oldest first, with the effect of each fact.
 * Pure: the same facts always give the same runs; a repeated or late fact changes none.
 */
export function foldBuild(
  facts: readonly Fact[],
  asked: readonly RestartAsked[] = [],
): { runs: Run[]; effects: Effect[] } {
  const { drafts, effects } = fold(facts, asked)
  return { runs: drafts.map(toRun), effects }
}

/** The effect of each fact alone, for whoever needs no runs. */
export const effectsOf = (facts: readonly Fact[], asked: readonly RestartAsked[] = []): Effect[] =>
  fold(facts, asked).effects

function fold(facts: readonly Fact[], asked: readonly RestartAsked[]): { drafts: Draft[]; effects: Effect[] } {
  const drafts: Draft[] = []
  const effects = facts.map((fact): Effect => {
    const current = drafts.at(-1)
    const effect = current ? effectOn(current, fact, asked) : 'opened'
    if (effect === 'opened') drafts.push(open(fact, drafts.length + 1))
    else if (current) absorb(current, fact, effect)
    return effect
  })
  return { drafts, effects }
}

/** Newest last: by build id as a number, then by run. */
export function compareRuns(a: Pick<Run, 'buildId' | 'n'>, b: Pick<Run, 'buildId' | 'n'>): number {
  const [left, right] = [idOrder(a.buildId), idOrder(b.buildId)]
  return left === right ? a.n - b.n : left < right ? -1 : 1
}

/** All runs of a revision, oldest first; the last one is what its card shows, its place in the list is its attempt. */
export function foldRuns(facts: readonly Fact[], asked: readonly RestartAsked[] = []): Run[] {
  const byBuild = Map.groupBy(facts, (fact) => fact.buildId)
  return [...byBuild.values()].flatMap((own) => foldBuild(own, asked).runs).sort(compareRuns)
}

/** The name of a run within its revision: what a reply in the thread is about. */
export const runKey = (run: Pick<Run, 'buildId' | 'n'>): string => `${run.buildId}.${run.n}`

interface Draft {
  n: number
  /** the facts that made the run what it is */
  facts: Fact[]
  /** repeated and late ones: they change nothing that is known, but may know what was not */
  echoes: Fact[]
  /** the fact whose status the run has */
  head: Fact
  final: Fact | null
  started: Fact | null
}

const open = (fact: Fact, n: number): Draft => ({
  n,
  facts: [fact],
  echoes: [],
  head: fact,
  final: isFinal(fact.status) ? fact : null,
  started: saysStarted(fact) ? fact : null,
})

// That we had CI start it again is no word of CI's own: its own may still come, late, and must not open a further run.
const saysStarted = ({ status, origin }: Fact): boolean => status === 'started' && origin !== 'action'

function effectOn(run: Draft, fact: Fact, asked: readonly RestartAsked[]): Effect {
  if (run.final) return effectAfterFinal(run, run.final, fact, asked)
  // An unknown word is known by the word itself: two different ones are two states.
  const same = fact.status === run.head.status && (fact.status !== 'unknown' || fact.word === run.head.word)
  return same ? 'duplicate' : 'moved'
}

function effectAfterFinal(run: Draft, final: Fact, fact: Fact, asked: readonly RestartAsked[]): Effect {
  if (isFinal(fact.status)) return fact.status === final.status ? 'duplicate' : 'opened'
  if (fact.status !== 'started') return saidBefore(run, fact) ? 'duplicate' : 'late'
  const restarted = asked.some((ask) => ask.buildId === fact.buildId && ask.at >= final.at && ask.at <= fact.at)
  const neverRan = final.status === 'ignored' || final.status === 'blocked'
  // Our own word comes after CI's answer: by then the run that it speaks of may have come and ended.
  const isOurs = fact.origin === 'action'
  const isLong = fact.at - final.at > LATE_START_MS && !owesStart(run, final)
  const isNewRun = restarted || (!isOurs && (run.started !== null || neverRan || isLong))
  if (isNewRun) return 'opened'
  return saidBefore(run, fact) ? 'duplicate' : 'late'
}

/**
 * We had CI start it, and learned how it ended by asking: CI has delivered nothing of it. A sender that repeats what was
 * not taken says both later, however long nobody took it; the second start is a restart again.
 */
const owesStart = (run: Draft, final: Fact): boolean =>
  run.facts[0]?.origin === 'action' && final.origin === 'poll' && !run.echoes.some(saysStarted)

const saidBefore = (run: Draft, fact: Fact): boolean => run.echoes.some((echo) => echo.word === fact.word)

function absorb(run: Draft, fact: Fact, effect: Effect): void {
  if (run.final === null && saysStarted(fact)) run.started ??= fact
  if (effect !== 'moved') return void run.echoes.push(fact)
  run.facts.push(fact)
  run.head = fact
  if (isFinal(fact.status)) run.final = fact
}

/** What changed the run says most, then what was repeated first; of the uuids, whatever was said first of all. */
function detailsOf(facts: readonly Fact[], echoes: readonly Fact[]): BuildDetails {
  if (echoes.length === 0) return mergeDetails(facts)
  const { projectUuid, buildUuid } = mergeDetails([...facts, ...echoes].toSorted((a, b) => a.seq - b.seq))
  return { ...mergeDetails([...echoes.toReversed(), ...facts]), projectUuid, buildUuid }
}

function toRun({ n, facts, echoes, head, final, started }: Draft): Run {
  const first = facts[0]!
  const details = detailsOf(facts, echoes)
  return {
    buildId: head.buildId,
    n,
    status: head.status,
    word: head.word,
    firstAt: first.at,
    startedAt: details.startedAt ?? started?.at ?? (first.status === 'started' ? first.at : null),
    finalAt: final ? (details.finishedAt ?? final.at) : null,
    firstSeq: first.seq,
    finalSeq: final?.seq ?? null,
    facts,
    isHeard: [...facts, ...echoes].some(({ origin }) => origin !== 'action'),
    details,
  }
}
