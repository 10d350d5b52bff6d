import type { Acknowledgement } from './acknowledgement.ts'
import type { Json } from './json.ts'
import { runCommand } from './people/command.ts'
import { mentionBot, openHome, verifyUrl } from './people/event.ts'
import { click, useGlobalShortcut, useMessageShortcut } from './people/message.ts'
import type { Press, Spot } from './people/message.ts'
import type { PeopleParts } from './people/parts.ts'
import { suggest } from './people/suggest.ts'
import type { Search, Suggestion } from './people/suggest.ts'
import { sendEvent } from './people/tell-event.ts'
import { closeView, pressInView, submitView } from './people/view.ts'
import type { ViewPress } from './people/view.ts'
import type { Values } from './view-state.ts'

/**
 * What people do that the bot is told of: signed as Slack signs, or over a socket. Each answers how the bot acknowledged
 * it; what the acknowledgement asks for (a reply to a command, a change of a modal) is done. Throws on people, channels,
 * messages and elements that are not there: a mistake of the test, not of the bot.
 */
export interface People {
  runCommand(words: { user: string; channel: string; command: string; text?: string }): Promise<Acknowledgement>
  /**
   * A button, a menu…, in a message or in what only this person sees: `selected` carries what was chosen, such as
   * `{ selected_option }`; `confirmed: false` says no in the dialog, and nothing is sent.
   */
  click(press: Press): Promise<Acknowledgement>
  /** The same in the top modal of a person, or in their home tab. */
  clickInView(press: ViewPress): Promise<Acknowledgement>
  /** Chooses or types in a field of a view; the bot is told at once only where the block dispatches. */
  select(choice: ViewPress & { selected: Json }): Promise<Acknowledgement>
  /** Types into a menu that asks the bot for its options. */
  suggest(search: Search): Promise<Suggestion>
  /** Submits the top modal; `values` as Slack nests them (block id, action id, value), over what was put in before. */
  submitView(form: { user: string; values?: Values }): Promise<Acknowledgement>
  /** Closes the top modal, or all of them. */
  closeView(closed: { user: string; isCleared?: boolean }): Promise<Acknowledgement>
  /** On a message. */
  useShortcut(use: Spot & { callbackId: string }): Promise<Acknowledgement>
  /** From anywhere. */
  useGlobalShortcut(use: { user: string; callbackId: string }): Promise<Acknowledgement>
  /** Writes `@bot text` into the channel or the thread, and tells the bot. */
  mentionBot(words: { user: string; channel: string; text: string; threadTs?: string }): Promise<Acknowledgement>
  openHome(user: string): Promise<Acknowledgement>
  verifyUrl(challenge: string): Promise<Acknowledgement>
  /** Any event; `retryNum` and the same `eventId` repeat it as Slack does. */
  sendEvent(event: Json, again?: { eventId?: string; retryNum?: number }): Promise<Acknowledgement>
  /**
   * Sends the last request of this name (an acknowledgement's `what`, such as `command /ci`) once more, signature and
   * all. What the answer asks for is not done.
   */
  replay(what: string): Promise<Acknowledgement>
}

export const createPeople = (parts: PeopleParts): People => ({
  runCommand: (words) => runCommand(parts, words),
  click: (press) => click(parts, press),
  clickInView: (press) => pressInView(parts, press),
  select: (choice) => pressInView(parts, choice),
  suggest: (search) => suggest(parts, search),
  submitView: (form) => submitView(parts, form),
  closeView: (closed) => closeView(parts, closed),
  useShortcut: (use) => useMessageShortcut(parts, use),
  useGlobalShortcut: (use) => useGlobalShortcut(parts, use),
  mentionBot: (words) => mentionBot(parts, words),
  openHome: (user) => openHome(parts, user),
  verifyUrl: (challenge) => verifyUrl(parts, challenge),
  sendEvent: (event, again) => sendEvent(parts, event, again),
  replay: (what) => parts.sender.replay(what),
})
