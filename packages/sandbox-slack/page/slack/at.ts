import type { Element, Option } from '../store/wire.ts'
import type { Scene } from './scene.ts'

/** What a field needs: its attributes, its value, and what to call when it changes. */
export interface At {
  element: Element
  attributes: Record<string, string | boolean | undefined>
  /** the name of the value in Slack's state, such as `selected_option` */
  name: string
  held: unknown
  /** whether Enter sends a request at once instead of submitting the form */
  tellsAtOnce: boolean
  put(value: unknown): void
  tell(value?: unknown): void
  search(text: string): Promise<Option[]>
  scene: Scene
}
