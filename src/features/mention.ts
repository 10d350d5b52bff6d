import { askerOf, listAt, messageOf, textAt } from './body.ts'
import { parseTyped, type Word } from '../slack/commands/parse.ts'
import { nameOf, readWords, run, type Spoken } from './run.ts'
import type { Door } from './context.ts'
import { placeOf } from './reply-target.ts'
import { respond } from './respond.ts'

/** `@buildline stop` in a build's thread, where Slack runs no slash commands; anywhere else with a name. */
export function answerMention(door: Door, body: unknown): Promise<void> {
  const spoken = readMention(body)
  const by = askerOf(body, 'mention')
  return respond(door, { what: nameOf(spoken), by, place: placeOf(door, body) }, (reference) =>
    run(door, spoken, { by, thread: messageOf(body), opener: null, reference }),
  )
}

/** What somebody else's bot says is no ask: two bots would talk for ever. */
export const isByBot = (body: unknown): boolean => textAt(body, 'event', 'bot_id') !== null

/** The words after our name: what stands before it was said to somebody else. */
function readMention(body: unknown): Spoken {
  const words = parseTyped((textAt(body, 'event', 'text') ?? '').replaceAll(ADDRESSED, '$1 '))
  const own = listAt(body, 'authorizations').map((one) => textAt(one, 'user_id'))
  const isOurs = ({ userId }: Word) => userId !== undefined && (own.length === 0 || own.includes(userId))
  return readWords(words.slice(words.findIndex(isOurs) + 1))
}

// `@buildline: stop`, as people write to one another.
const ADDRESSED = /(<@[UW][A-Z0-9]{2,20}(?:\|[^<>]{0,80})?>)[:,]/g
