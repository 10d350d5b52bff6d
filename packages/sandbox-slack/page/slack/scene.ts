import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Block, Channel, Element, Option, User, Value } from '../store/wire.ts'
import type { Names } from './mrkdwn.ts'

/** The context in which blocks are drawn: the names of ids, and what happens when somebody uses an element. */
export interface Scene {
  names: Names
  /** the people and channels that can be chosen in a form */
  users: readonly User[]
  channels: readonly Channel[]
  person: string
  /** called for a button, or for a choice in a menu without a value */
  press(element: Element, block: Block, selected?: Value): void
  /** gets the options of a menu from the bot */
  search(element: Element, block: Block, text: string): Promise<Option[]>
  /** the state of a view's fields; missing in a message, whose fields have no state */
  form?: Form
}

export interface Form {
  /** the value of a field */
  held(element: Element, block: Block): Value
  put(element: Element, block: Block, value: Value): void
  /** called after a choice or Enter; sends a request if the block dispatches */
  tell(element: Element, block: Block): void
  /** the errors, by block id */
  errors: Readonly<Record<string, string>>
}

/** A scene for display only: using an element does nothing. */
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
