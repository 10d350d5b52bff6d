import type { Element, Option } from '../store/wire.ts'
import type { Scene } from './scene.ts'

/** What a field needs: its attributes, what stands in it, and whom it tells. */
export interface At {
  element: Element
  attributes: Record<string, string | boolean | undefined>
  /** under the name that Slack keeps it by */
  name: string
  held: unknown
  /** whether Enter is told at once, instead of submitting the form */
  tellsAtOnce: boolean
  put(value: unknown): void
  tell(value?: unknown): void
  search(text: string): Promise<Option[]>
  scene: Scene
}
