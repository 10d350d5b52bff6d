import type { BuildEvent } from './build-event.ts'
import { digest, type ProjectId } from '../ids.ts'
import { effectsOf, type RestartRequest } from './attempt.ts'

/**
 * A revision without a build event for this long is at rest. If the commit is built again later, it gets a new card.
 */
export const REST_MS = 24 * 60 * 60_000

/**
 * A card ends after this many builds, or this long after its first build event (ms). A commit that is built every few
 * minutes continues on a new card. Each event costs more the larger its card is, so cards must not grow without limit.
 */
export const BUILDS_PER_CARD_MAX = 50
export const CARD_MS_MAX = 7 * 24 * 60 * 60_000

/** A card also ends after this many events: a single build may be restarted over and over. */
export const EVENTS_PER_CARD_MAX = 300

/** The key of a branch of a project, whose builds are one history: `recovered` is computed from it. */
export const branchKey = (projectId: ProjectId, branch: string | null): string => digest([projectId, branch])

/** The newest card of a revision (the first is 1): when its first and last build events came (ms), how many it has. */
export interface NewestCard {
  cardNumber: number
  firstAt: number
  lastAt: number
  buildEvents: number
  builds: number
}

/**
 * Gives a card to each build event of a revision that has none yet. A build event that continues or repeats an attempt
 * goes to that attempt's card, however late it is: a build that waited three days for approval continues on its card.
 * A build event that opens an attempt also opens a new card if the revision rests, or if the card is full or old.
 * @param buildEvents every build event of the builds concerned, in order of receipt
 */
export function placeEvents(
  buildEvents: readonly BuildEvent[],
  newest: NewestCard | null,
  restarts: readonly RestartRequest[] = [],
): { placed: Map<number, number>; newest: NewestCard | null } {
  const placed = new Map<number, number>()
  const cardNumberOf = (buildEvent: BuildEvent) => buildEvent.cardNumber ?? placed.get(buildEvent.seq)
  const effects = effectsBySeq(buildEvents, restarts)
  let current = newest
  const lastOfBuild = new Map<string, number>()
  const onCard = new Set(buildEvents.flatMap((one) => (one.cardNumber === null ? [] : nameOn(one, one.cardNumber))))
  for (const buildEvent of buildEvents) {
    if (buildEvent.cardNumber === null) {
      const continued = effects.get(buildEvent.seq) === 'opened' ? undefined : lastOfBuild.get(buildEvent.buildId)
      const isOnIt = current !== null && onCard.has(nameOn(buildEvent, current.cardNumber))
      if (continued === undefined) current = currentOrNext(current, buildEvent.at, isOnIt)
      const cardNumber = continued ?? current!.cardNumber
      placed.set(buildEvent.seq, cardNumber)
      if (current && cardNumber === current.cardNumber)
        current = grown(current, buildEvent.at, onCard.has(nameOn(buildEvent, cardNumber)))
      onCard.add(nameOn(buildEvent, cardNumber))
    }
    lastOfBuild.set(buildEvent.buildId, cardNumberOf(buildEvent)!)
  }
  return { placed, newest: current }
}

/** The effect of each build event, by its number. */
export function effectsBySeq(buildEvents: readonly BuildEvent[], restarts: readonly RestartRequest[]) {
  const byBuild = [...Map.groupBy(buildEvents, (buildEvent) => buildEvent.buildId).values()]
  return new Map(byBuild.flatMap((own) => effectsOf(own, restarts).map((effect, i) => [own[i]!.seq, effect] as const)))
}

const nameOn = ({ buildId }: BuildEvent, cardNumber: number): string => `${buildId} ${cardNumber}`

const grown = (card: NewestCard, at: number, isOnIt: boolean): NewestCard => ({
  cardNumber: card.cardNumber,
  firstAt: Math.min(card.firstAt, at),
  lastAt: Math.max(card.lastAt, at),
  buildEvents: card.buildEvents + 1,
  builds: card.builds + (isOnIt ? 0 : 1),
})

/** @param isOnIt whether the build has events on the current card already */
function currentOrNext(current: NewestCard | null, at: number, isOnIt: boolean): NewestCard {
  const empty = { firstAt: at, lastAt: at, buildEvents: 0, builds: 0 }
  if (!current) return { cardNumber: 1, ...empty }
  const hasRested = at - current.lastAt > REST_MS
  const isOld = at - current.firstAt > CARD_MS_MAX
  const isFull = current.buildEvents >= EVENTS_PER_CARD_MAX || (!isOnIt && current.builds >= BUILDS_PER_CARD_MAX)
  return hasRested || isOld || isFull ? { cardNumber: current.cardNumber + 1, ...empty } : current
}

/** The subject of a card: a card's part of a revision, a day's account notice, or the digest of a period. */
type Subject =
  | { kind: 'revision'; revisionKey: string; cardNumber: number }
  | { kind: 'notice'; day: string }
  | { kind: 'digest'; period: string }

export const revisionSubject = (key: string, cardNumber: number): string => `${key}/${cardNumber}`
export const noticeSubject = (day: string): string => `notice/${day}`
export const digestSubject = (period: string): string => `digest/${period}`

export function parseSubject(subject: string): Subject {
  const [key = '', place = ''] = subject.split('/')
  if (key === 'notice') return { kind: 'notice', day: place }
  if (key === 'digest') return { kind: 'digest', period: place }
  return { kind: 'revision', revisionKey: key, cardNumber: Number(place) }
}

/** The card that a revision's subject names. */
export const cardNumberOf = (subject: string): number => Number(subject.split('/')[1])
