import type { Method } from './call.ts'
import { chatMethods } from './chat.ts'
import { conversationMethods } from './conversations.ts'
import { fileMethods } from './files.ts'
import { historyMethods } from './history.ts'
import { otherMethods } from './others.ts'
import { peopleMethods } from './people.ts'
import { viewMethods } from './views.ts'

const ALL = {
  ...chatMethods,
  ...historyMethods,
  ...conversationMethods,
  ...viewMethods,
  ...fileMethods,
  ...peopleMethods,
  ...otherMethods,
}

/** Each method with the type of its answer. */
export type Methods = typeof ALL

/** All methods of the sandbox. Any other is answered with `unknown_method`. */
export const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>(Object.entries(ALL))
