/**
 * Whom a run is about. `author`: of the commit; `opener`: of the pull or merge request; `starter`: who started it by
 * hand.
 */
export type Person = 'author' | 'opener' | 'starter' | 'nobody'

/** How the way a run was started determines its stream, its card and its person. */
export interface Trigger {
  /** what its stream adds to the branch's name; null: nothing, for pushes to the branch */
  stream: string | null
  person: Person
  /** the runs of one commit share a card; else each run has its own */
  sharesCard: boolean
}

/** A push: only these runs use the plain branch as their stream. */
export const PUSH: Trigger = { stream: null, person: 'author', sharesCard: true }

/** Started in some other way: it gets its own stream and card, and by default mentions nobody. */
export const startedBy = (stream: string, person: Person = 'nobody'): Trigger => ({ stream, person, sharesCard: false })

/** An unknown trigger is named by its source's word, such as `workflow run`. */
export const unknownTrigger = (word: string): Trigger => startedBy(word.replaceAll('_', ' '))
