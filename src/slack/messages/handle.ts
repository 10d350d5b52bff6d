import { HANDLE_CHARS_MAX } from '../../domain/handle.ts'
import { codeSpan, toLine } from '../../lib/escape.ts'
import { plain, type ActionButton } from './blocks.ts'
import { mention } from './build.ts'
import { ACTION_IDS } from './ids.ts'
import { cut } from './limits.ts'

// Which person a committer's name means, in words. Markup; the name is outside text.

/** `` `ada` ``, whole: what is longer nobody has claimed. */
export const handleWords = (handle: string): string => codeSpan(cut(toLine(handle), HANDLE_CHARS_MAX)) || '(no name)'

/** How a command with this name is typed: `/ci me forget "ada lovelace"`. */
export function meCommand(before: string, handle: string, after = ''): string {
  const name = toLine(handle)
  const word = /\s/.test(name) ? `"${name}"` : name
  return ['/ci me', before, word, after].filter(Boolean).join(' ')
}

/** Claims the name of a build's committer. It carries the build alone: whose name that is, is looked up when it is pressed. */
export const claimButton = (ref: string): ActionButton => ({
  type: 'button',
  action_id: ACTION_IDS.claim,
  text: plain("That's me"),
  value: ref,
})

/** `@Ada, is this you?`, beside that button; empty where nobody is asked by name. */
export const isThisYou = (user: string | null): string => (mention(user) === '' ? '' : `${mention(user)}, is this you?`)

/** For the person who was given a name by an admin. */
export function givenLine({ handle, was, by }: { handle: string; was: string | null; by: string }): string {
  const before = was === null ? '' : ` It was ${mention(was) || 'somebody else'}'s until now.`
  return [
    `:bust_in_silhouette: ${who(by)} decided that the committer name ${handleWords(handle)} means you.${before}`,
    `A failed build of such a commit mentions you. If it is not yours, type ${codeSpan(meCommand('forget', handle))}.`,
  ].join(' ')
}

/** For the person who lost a name because an admin gave it to another. */
export const takenLine = ({ handle, user, by }: { handle: string; user: string; by: string }): string =>
  `:bust_in_silhouette: ${who(by)} decided that the committer name ${handleWords(handle)} means ${mention(user) || 'somebody else'}, and not you any more. If that is wrong, tell ${who(by)}.`

const who = (user: string): string => mention(user) || 'An admin'
