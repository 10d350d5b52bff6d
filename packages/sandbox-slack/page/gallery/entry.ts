import type { Said, Values, View } from '../store/wire.ts'

interface Common {
  /** such as `messages/card-failed` or `answers/list-projects/2`, from the golden file's name, so that it is stable */
  id: string
  name: string
  /** a sentence that says when it appears */
  when: string
  /** the lines that a screen reader reads, in mrkdwn */
  reading: readonly string[]
}

/** A message, modal or home tab of the bot, as Slack gets it. */
export type Entry =
  | (Common & {
      shows: 'message'
      json: Said
      /** the text that is sent without blocks if Slack refuses a card's blocks, in mrkdwn; null: not a card */
      plain: string | null
    })
  | (Common & {
      shows: 'modal' | 'home'
      json: Omit<View, 'id'>
      /** the initial values of its fields */
      values: Values
      /** the errors of a submitted form, by block id */
      errors: Readonly<Record<string, string>>
    })

export interface Group {
  title: string
  entries: readonly Entry[]
}
