import type { Ask } from './respond.ts'
import type { Door } from './context.ts'
import type { Opener } from './modal.ts'

/** What a click carries: its value, who made it, and what the answer refers to. */
export interface Click {
  door: Pick<Door, 'operations' | 'homes'>
  value: string
  by: Ask['by']
  opener: Opener | null
  reference: string
}
