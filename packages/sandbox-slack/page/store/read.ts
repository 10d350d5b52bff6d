// What the acting person sees, and what of it is new to them.
import { compareTs, keyOf } from './state.ts'
import type { State } from './state.ts'
import type { Message } from './wire.ts'

type Reader = Pick<State, 'person' | 'dismissed'>

export const isForMe = ({ person, dismissed }: Reader, message: Message): boolean =>
  (message.onlyFor === undefined || message.onlyFor === person) && !dismissed.has(keyOf(message))

/** A channel's messages as this person sees them, oldest first. */
export const messagesFor = (state: Reader & Pick<State, 'messages'>, channel: string): Message[] =>
  [...(state.messages.get(channel)?.values() ?? [])]
    .filter((message) => isForMe(state, message))
    .sort((one, other) => compareTs(one.ts, other.ts))

/** Whether the message is shown in the channel itself, not only in a thread. */
export const isInChannel = ({ root, isBroadcast }: Message): boolean => root === null || isBroadcast

export interface Unread {
  /** whether something is new */
  isUnread: boolean
  /** how often the person was mentioned */
  mentions: number
}

/** What is new in a channel: visible messages of others since the last visit. In a direct channel, all are mentions. */
export function unreadIn(state: State, channel: string): Unread {
  const since = state.readMarks[state.person]?.[channel] ?? ''
  const isDirect = state.channels.get(channel)?.kind === 'im'
  const fresh = [...(state.messages.get(channel)?.values() ?? [])].filter(
    (message) =>
      compareTs(message.ts, since) > 0 &&
      message.user !== state.person &&
      isForMe(state, message) &&
      (isInChannel(message) || callsFor(state.person, message)),
  )
  const calls = fresh.filter((message) => isDirect || callsFor(state.person, message))
  return { isUnread: fresh.length > 0, mentions: calls.length }
}

const EVERYONE = ['<!channel>', '<!here>', '<!everyone>']

/** Whether the message mentions this person. */
export const callsFor = (person: string, { text = '' }: Pick<Message, 'text'>): boolean =>
  [`<@${person}>`, `<@${person}|`, ...EVERYONE].some((call) => text.includes(call))
