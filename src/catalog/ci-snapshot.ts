import {
  firstLine,
  mergeDetails,
  NO_DETAILS,
  toFact,
  type Fact,
  type Observation,
  type Origin,
} from '../domain/fact.ts'
import type { LegacyBuild } from '../domain/project.ts'
import { restartsAsked, type RunRef } from '../domain/request.ts'
import { effectsOf, foldBuild, type Effect, type Run } from '../domain/run.ts'
import { isFinal, toStatus } from '../domain/status.ts'
import type { BuildPlace } from '../store/kept.ts'
import type { Tx } from '../store/store.ts'

/** What was asked about, and the revision that it belongs to. */
export interface PolledFor extends Pick<RunRef, 'projectId' | 'buildId'> {
  revisionKey: string
}

/** `begunAgain`: what CI shows is another run than the one that is known. */
export interface Polled {
  build: LegacyBuild
  begunAgain: boolean
  at: number
}

/**
 * What CI showed of a build when it was asked becomes a fact like any other; what is known already is not said again. A
 * build of another commit is left to its own deliveries. @returns whether it said anything new
 */
export async function insertPolled(tx: Tx, about: PolledFor, { build, begunAgain, at }: Polled): Promise<boolean> {
  const known = await tx.factsOfBuild(about.projectId, build.id)
  const told = build.id === about.buildId ? known : await tx.factsOfBuild(about.projectId, about.buildId)
  const place = known.at(-1) ?? told.findLast(({ commitId }) => isSameCommit(commitId, build.commitId))
  if (!place || place.revisionKey !== about.revisionKey) return false
  const asked = restartsAsked(await tx.restartsOf(about.projectId, build.id))
  let facts: readonly Fact[] = known
  for (const { word, origin } of said(build, begunAgain, foldBuild(known, asked).runs.at(-1))) {
    const seen = observationOf(about, build, { place, told }, word)
    const next = [...facts, toFact(seen, Number.MAX_SAFE_INTEGER, at, origin)]
    if (!isNews(effectsOf(next, asked).at(-1)!, origin, facts)) continue
    const { branch, commitId } = seen
    await tx.insertFact(seen, { at, origin, priority: 0, revisionKey: place.revisionKey, branch, commitId })
    facts = next
  }
  return facts !== known
}

function said(build: LegacyBuild, begunAgain: boolean, known: Run | undefined): { word: string; origin: Origin }[] {
  const hasEnded = isFinal(toStatus(build.status))
  // The two interfaces may have different words for one end: what has ended and has not begun again ended as delivered.
  if (!begunAgain)
    return [{ word: hasEnded && known && isFinal(known.status) ? known.word : build.status, origin: 'poll' }]
  // That it ended the same way again shows only if it has begun again, which CI did not say: its own word of that may
  // still come, and must not open a further run.
  return [
    ...(hasEnded ? [{ word: 'initiated', origin: 'action' } as const] : []),
    { word: build.status, origin: 'poll' },
  ]
}

function isNews(effect: Effect, origin: Origin, facts: readonly Fact[]): boolean {
  if (effect === 'opened' || effect === 'moved') return true
  // A repetition by CI itself says that it has spoken of a run that only our own word stood for.
  return effect === 'duplicate' && origin === 'poll' && facts.at(-1)?.origin === 'action'
}

/** One may be the short form of the other; what names no commit is the same as none. */
export function isSameCommit(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return false
  const [short, long] = [one.toLowerCase(), other.toLowerCase()].sort((a, b) => a.length - b.length)
  return short!.length >= COMMIT_CHARS_MIN && long!.startsWith(short!)
}

/** Shorter forms of a commit are shared by too many. */
const COMMIT_CHARS_MIN = 7

function observationOf(
  { projectId }: PolledFor,
  build: LegacyBuild,
  { place, told }: { place: BuildPlace; told: readonly Fact[] },
  word: string,
): Observation {
  const known = mergeDetails(told)
  return {
    projectId,
    buildId: build.id,
    branch: place.branch ?? build.branch,
    commitId: place.commitId ?? build.commitId,
    word,
    details: {
      ...NO_DETAILS,
      // On a card of its own nothing else says whose build it is.
      projectName: known.projectName,
      projectFullName: known.projectFullName,
      projectUuid: known.projectUuid,
      buildUuid: build.uuid,
      // The legacy interface names people and commits in other words: what was delivered stays.
      message: known.message === null ? firstLine(build.message) : null,
      committer: known.committer === null ? build.committer : null,
      startedAt: build.startedAt,
      finishedAt: isFinal(toStatus(word)) ? build.finishedAt : null,
    },
  }
}
