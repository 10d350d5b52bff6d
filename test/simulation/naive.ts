import type { Fact } from '../../src/domain/fact.ts'
import type { Request } from '../../src/domain/request.ts'

// The rules of runs and of `recovered` once more, as plainly as they can be said, so that the product's own reading of
// them is not its only witness. Nothing of src is run here.

interface Run {
  build: number
  status: string
  startSeen: boolean
  /** whose word began it, and whose ended it */
  begunBy: Fact['origin']
  endedBy: Fact['origin'] | null
  /** its start was told after its end */
  startCameLate: boolean
  finalAt: number | null
  finalSeq: number
}

const STARTED = new Set(['initiated', 'testing'])
const FINAL = new Set(['success', 'error', 'failed', 'stopped', 'infrastructure_failure', 'ignored', 'blocked'])
const RED = new Set(['error', 'failed', 'infrastructure_failure'])

/** @returns what the card should show: `512 fixed, attempt 2` */
export function readNaively(own: readonly Fact[], branch: readonly Fact[], requests: readonly Request[]): string {
  const runs = runsOf(own, requests)
  const newest = runs.at(-1)!
  return `${newest.build} ${shownAs(newest, runsOf(branch, requests))}, attempt ${runs.length}`
}

function runsOf(facts: readonly Fact[], requests: readonly Request[]): Run[] {
  const runs: Run[] = []
  for (const fact of facts.toSorted((a, b) => a.seq - b.seq)) {
    const run = runs.findLast(({ build }) => build === Number(fact.buildId))
    if (!run || isNewRun(run, fact, requests)) runs.push(begin(fact))
    else if (run.finalAt === null) goOn(run, fact)
    else if (STARTED.has(fact.word) && fact.origin !== 'action') run.startCameLate = true
  }
  return runs.sort((a, b) => a.build - b.build)
}

function begin(fact: Fact): Run {
  const unknown = { status: '', startSeen: false, startCameLate: false, endedBy: null, finalAt: null, finalSeq: 0 }
  const run = { ...unknown, build: Number(fact.buildId), begunBy: fact.origin }
  goOn(run, fact)
  return run
}

function goOn(run: Run, { word, at, seq, origin }: Fact): void {
  run.status = word
  if (STARTED.has(word) && origin !== 'action') run.startSeen = true
  if (FINAL.has(word)) Object.assign(run, { finalAt: at, finalSeq: seq, endedBy: origin })
}

function isNewRun(run: Run, fact: Fact, requests: readonly Request[]): boolean {
  const { status, startSeen, finalAt } = run
  if (finalAt === null) return false
  if (FINAL.has(fact.word)) return family(fact.word) !== family(status)
  if (!STARTED.has(fact.word)) return false
  if (requests.some((request) => restarts(request, fact, finalAt))) return true
  if (fact.origin === 'action') return false
  if (startSeen || status === 'ignored' || status === 'blocked') return true
  return fact.at - finalAt > 60_000 && !isOwedItsStart(run)
}

/** We had it begun and asked how it ended: what CI itself tells of it may come at any time, and its start tells of it once. */
const isOwedItsStart = ({ begunBy, endedBy, startCameLate }: Run): boolean =>
  begunBy === 'action' && endedBy === 'poll' && !startCameLate

const restarts = ({ action, buildId, state, code, askedAt }: Request, fact: Fact, finalAt: number): boolean =>
  action === 'restart' &&
  buildId === fact.buildId &&
  state !== 'refused' &&
  code !== 'not-restarted' &&
  askedAt >= finalAt &&
  askedAt <= fact.at

const SYNONYMS: Record<string, string> = { initiated: 'started', testing: 'started', error: 'failed' }
const KNOWN = new Set(['waiting', 'started', ...FINAL])
const family = (word: string): string => SYNONYMS[word] ?? word

function shownAs(run: Run, branch: readonly Run[]): string {
  if (run.status !== 'success') return KNOWN.has(family(run.status)) ? family(run.status) : 'unknown'
  const verdicts = branch.filter(({ status }) => status === 'success' || RED.has(status))
  const own = verdicts.findIndex(({ finalSeq }) => finalSeq === run.finalSeq)
  const isOvertaken = verdicts.slice(own + 1).some(({ finalSeq }) => finalSeq < run.finalSeq)
  const before = verdicts.slice(0, own).filter(({ status, finalSeq }) => RED.has(status) || finalSeq < run.finalSeq)
  return !isOvertaken && before.length > 0 && RED.has(before.at(-1)!.status) ? 'fixed' : 'passed'
}
