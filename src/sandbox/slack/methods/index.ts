import type { Method } from './call.ts'
import { chatMethods } from './chat.ts'
import { conversationMethods } from './conversations.ts'
import { fileMethods } from './files.ts'
import { otherMethods } from './others.ts'
import { peopleMethods } from './people.ts'
import { viewMethods } from './views.ts'

/** Every method that is played here; any other is `unknown_method`. */
export const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    ...chatMethods,
    ...conversationMethods,
    ...viewMethods,
    ...fileMethods,
    ...peopleMethods,
    ...otherMethods,
  }),
)
