import { answerOld } from './fault-messages.ts'
import { askerOf, textAt } from './body.ts'
import type { Door } from './context.ts'
import { placeOf } from './reply-target.ts'
import { respond } from './respond.ts'
import { FIND_CALLBACK_ID } from './builds/find-modal.ts'
import { openFind } from './builds/find-shortcut.ts'
import { restartByShortcut } from './builds/restart-shortcut.ts'
import { stopByShortcut } from './builds/stop-shortcut.ts'

export interface Shortcut {
  callbackId: string
  type: 'message' | 'global'
  name: string
  description: string
  answer: (door: Door, body: unknown) => Promise<void>
}

/** What stands in Slack's menus; the manifest is held against it. */
export const SHORTCUTS: readonly Shortcut[] = [
  {
    callbackId: 'restart_build',
    type: 'message',
    name: 'Restart this build',
    description: 'Runs the build of this message again',
    answer: restartByShortcut,
  },
  {
    callbackId: 'stop_build',
    type: 'message',
    name: 'Stop this build',
    description: 'Stops the build of this message, after asking once more',
    answer: stopByShortcut,
  },
  {
    callbackId: FIND_CALLBACK_ID,
    type: 'global',
    name: 'Find a build',
    description: 'Shows the last build of a project or branch',
    answer: openFind,
  },
]

/** A shortcut, after it was acknowledged. */
export function answerShortcut(door: Door, body: unknown): Promise<void> {
  const id = textAt(body, 'callback_id')
  const shortcut = SHORTCUTS.find(({ callbackId }) => callbackId === id)
  return shortcut ? shortcut.answer(door, body) : answerOldShortcut(door, body)
}

const answerOldShortcut = (door: Door, body: unknown): Promise<void> =>
  respond(door, { what: 'old', by: askerOf(body, 'shortcut'), place: placeOf(door, body) }, async () => ({
    outcome: 'old',
    answer: answerOld(),
  }))
