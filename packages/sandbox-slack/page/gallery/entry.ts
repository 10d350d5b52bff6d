import type { Said, Values, View } from '../store/wire.ts'

interface Common {
  /** `messages/card-failed`, `answers/list-projects/2`: stays the same as long as the golden file does */
  id: string
  name: string
  /** one sentence: when it appears */
  when: string
  /** what a screen reader reads, a line each; markup */
  reading: readonly string[]
}

/** One thing that a person may have before them, as Slack gets it. */
export type Entry =
  | (Common & {
      shows: 'message'
      json: Said
      /** of a card: what is sent alone where Slack refuses the blocks; markup */
      plain: string | null
    })
  | (Common & {
      shows: 'modal' | 'home'
      json: Omit<View, 'id'>
      /** what stands in its fields at first */
      values: Values
      /** of a form that was sent in: what is wrong, by block */
      errors: Readonly<Record<string, string>>
    })

export interface Group {
  title: string
  entries: readonly Entry[]
}
