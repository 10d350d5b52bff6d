/** Whom a run is about. `author`: of the commit; `opener`: of the request; `starter`: who started it by hand. */
export type Person = 'author' | 'opener' | 'starter' | 'nobody'

/** What starting a run in one way means for its stream, its card and its person. */
export interface Trigger {
  /** what its stream adds to the branch; null: nothing, since these are the branch's own pushes */
  stream: string | null
  person: Person
  /** the runs of one commit share a card; else each run has its own */
  sharesCard: boolean
}

/** A push: the only runs that go by their branch alone. */
export const PUSH: Trigger = { stream: null, person: 'author', sharesCard: true }

/** Started in some other way: a stream and a card of its own, about nobody. */
export const startedBy = (stream: string, person: Person = 'nobody'): Trigger => ({ stream, person, sharesCard: false })

/** A trigger that we do not know goes by its source's word, such as `workflow run`. */
export const unknownTrigger = (word: string): Trigger => startedBy(word.replaceAll('_', ' '))
