import { hash } from 'node:crypto'
import type { Fact, Observation } from './fact.ts'
import type { ProjectId } from './ids.ts'
import { effectsOf, type RestartAsked } from './run.ts'

/** A revision rests so long after its last fact: the same commit built later is news, on a card of its own. */
export const REST_MS = 24 * 60 * 60_000

/** A card tells at most so many facts; a commit that is built over and over then continues on a new card. */
export const FACTS_PER_CARD_MAX = 1_000

/**
 * All builds and runs of one commit on one branch share this key: 32 hex digits, the same on every machine.
 * Without a commit there is nothing to share: the build stands alone.
 */
export function revisionKey({ projectId, branch, commitId, buildId }: Observation): string {
  const parts = commitId === null ? ['build', buildId] : ['commit', commitId.toLowerCase()]
  return digest([projectId, branch, ...parts])
}

/** The history that `recovered` is computed from: project and branch. */
export const branchKey = (projectId: ProjectId, branch: string | null): string => digest([projectId, branch])

const digest = (parts: readonly (string | null)[]): string => hash('sha256', JSON.stringify(parts)).slice(0, 32)

/** Where a revision stands: its newest card (`episode` counts from 1), when its last fact came (ms), how many it holds. */
export interface Episode {
  episode: number
  lastAt: number
  facts: number
}

/** A fact that knows its episode; `null` until it has one. */
export type PlacedFact = Fact & { episode: number | null }

/**
 * Gives each fact of a revision that has none yet its episode. A fact that continues or repeats a run stays with that
 * run, however late it comes: a build that waited three days for its approval goes on, on the card it has. A fact that
 * opens a run opens a new episode when the revision rests.
 * @param facts every fact of the builds concerned, in order of receipt
 */
export function placeFacts(
  facts: readonly PlacedFact[],
  newest: Episode | null,
  asked: readonly RestartAsked[] = [],
): { placed: Map<number, number>; newest: Episode | null } {
  const placed = new Map<number, number>()
  const episodeOf = (fact: PlacedFact) => fact.episode ?? placed.get(fact.seq)
  const effects = effectsBySeq(facts, asked)
  let current = newest
  const lastOfBuild = new Map<string, number>()
  for (const fact of facts) {
    if (fact.episode === null) {
      const continued = effects.get(fact.seq) === 'opened' ? undefined : lastOfBuild.get(fact.buildId)
      if (continued === undefined) current = currentOrNext(current, fact.at)
      const episode = continued ?? current!.episode
      placed.set(fact.seq, episode)
      if (current && episode === current.episode)
        current = { episode, lastAt: Math.max(current.lastAt, fact.at), facts: current.facts + 1 }
    }
    lastOfBuild.set(fact.buildId, episodeOf(fact)!)
  }
  return { placed, newest: current }
}

function effectsBySeq(facts: readonly PlacedFact[], asked: readonly RestartAsked[]) {
  const byBuild = [...Map.groupBy(facts, (fact) => fact.buildId).values()]
  return new Map(byBuild.flatMap((own) => effectsOf(own, asked).map((effect, i) => [own[i]!.seq, effect] as const)))
}

function currentOrNext(current: Episode | null, at: number): Episode {
  if (!current) return { episode: 1, lastAt: at, facts: 0 }
  const rested = at - current.lastAt > REST_MS
  const full = current.facts >= FACTS_PER_CARD_MAX
  return rested || full ? { episode: current.episode + 1, lastAt: at, facts: 0 } : current
}
