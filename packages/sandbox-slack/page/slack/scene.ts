import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Block, Channel, Element, Option, User, Value } from '../store/wire.ts'
import type { Names } from './mrkdwn.ts'

/** What blocks are drawn with: whom ids mean, and what happens when somebody uses them. */
export interface Scene {
  names: Names
  /** what people can choose in a form */
  users: readonly User[]
  channels: readonly Channel[]
  person: string
  /** a button is pressed, or a choice made in a menu that holds nothing */
  press(element: Element, block: Block, selected?: Value): void
  /** the options of a menu that asks for them */
  search(element: Element, block: Block, text: string): Promise<Option[]>
  /** in a view: what its fields hold. Without it fields are shown, and hold what is put into them for nobody. */
  form?: Form
}

export interface Form {
  /** what stands in a field */
  held(element: Element, block: Block): Value
  put(element: Element, block: Block, value: Value): void
  /** a choice was made, or Enter pressed: whoever wants to know at once is told */
  tell(element: Element, block: Block): void
  /** what is wrong, by block */
  errors: Readonly<Record<string, string>>
}

/** A scene in which nothing happens: for looking at. */
export const STILL: Scene = {
  names: {},
  users: [],
  channels: [],
  person: '',
  press: () => undefined,
  search: () => Promise.resolve([]),
}

const SceneContext = createContext<Scene>(STILL)

export const SceneProvider = SceneContext.Provider
export const useScene = (): Scene => useContext(SceneContext)
