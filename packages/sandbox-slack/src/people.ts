import type { Acknowledgement } from './acknowledgement.ts'
import type { Json } from './json.ts'
import { runCommand } from './people/command.ts'
import { editMention, mentionBot, mentionByBot, openHome, verifyUrl } from './people/event.ts'
import { click, useGlobalShortcut, useMessageShortcut } from './people/message.ts'
import type { Press, Spot } from './people/message.ts'
import type { PeopleParts } from './people/parts.ts'
import { suggest } from './people/suggest.ts'
import type { Search, Suggestion } from './people/suggest.ts'
import { sendEvent, sendRateLimited } from './people/tell-event.ts'
import { closeView, pressInView, submitView } from './people/view.ts'
import type { ViewPress } from './people/view.ts'
import type { Values } from './view-state.ts'

/**
 * Actions of people that the bot gets, signed like Slack's or over a socket. Each returns the bot's acknowledgement,
 * and does what that asks for (a reply to a command, a change of a modal). Each throws if a person, channel, message or
 * element does not exist, because that is a mistake in the test, not in the bot.
 */
export interface People {
  runCommand(words: { user: string; channel: string; command: string; text?: string }): Promise<Acknowledgement>
  /**
   * Uses a button, menu or other element in a message, also an ephemeral one. `selected` is the choice, such as `{
   * selected_option }`. `confirmed: false` answers no in the dialog, and nothing is sent.
   */
  click(press: Press): Promise<Acknowledgement>
  /** Uses an element in the person's top modal or home tab. */
  clickInView(press: ViewPress): Promise<Acknowledgement>
  /** Fills a field of a view. The bot gets a request at once only if the block dispatches. */
  select(choice: ViewPress & { selected: Json }): Promise<Acknowledgement>
  /** Types into a menu that gets its options from the bot. */
  suggest(search: Search): Promise<Suggestion>
  /** Submits the top modal. `values`, nested like Slack's (block id, action id, value), override earlier input. */
  submitView(form: { user: string; values?: Values }): Promise<Acknowledgement>
  /** Closes the top modal, or all of them. */
  closeView(closed: { user: string; isCleared?: boolean }): Promise<Acknowledgement>
  /** Uses a message shortcut. */
  useShortcut(use: Spot & { callbackId: string }): Promise<Acknowledgement>
  /** Uses a global shortcut. */
  useGlobalShortcut(use: { user: string; callbackId: string }): Promise<Acknowledgement>
  /** Posts `@bot text` in the channel or the thread, and sends the bot the event. */
  mentionBot(words: { user: string; channel: string; text: string; threadTs?: string }): Promise<Acknowledgement>
  /** Another bot does the same: an app (the default), or a workflow, of which the event names no user. */
  mentionByBot(words: {
    channel: string
    text: string
    threadTs?: string
    by?: 'app' | 'workflow'
  }): Promise<Acknowledgement>
  /** Edits a person's message to `@bot text`. As in Slack, the bot gets the event again, with another id. */
  editMention(words: { channel: string; ts: string; text: string }): Promise<Acknowledgement>
  openHome(user: string): Promise<Acknowledgement>
  verifyUrl(challenge: string): Promise<Acknowledgement>
  /** Sends any event. With `retryNum` and the same `eventId`, it is one of Slack's retries. */
  sendEvent(event: Json, again?: { eventId?: string; retryNum?: number }): Promise<Acknowledgement>
  /** Slack sends no more events for now, and says so: `app_rate_limited`. */
  limitEvents(): Promise<Acknowledgement>
  /**
   * Sends the last request of this name (an acknowledgement's `what`, such as `command /ci`) again, with the same
   * signature. The content of the answer is ignored.
   */
  replay(what: string): Promise<Acknowledgement>
  /** The same, as Slack repeats a request without an answer, with a new signature. */
  resend(what: string): Promise<Acknowledgement>
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
  mentionByBot: (words) => mentionByBot(parts, words),
  editMention: (words) => editMention(parts, words),
  openHome: (user) => openHome(parts, user),
  verifyUrl: (challenge) => verifyUrl(parts, challenge),
  sendEvent: (event, again) => sendEvent(parts, event, again),
  limitEvents: () => sendRateLimited(parts),
  replay: (what) => parts.sender.replay(what),
  resend: (what) => parts.sender.resend(what),
})
