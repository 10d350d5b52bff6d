import { HANDLE_CHARS_MAX } from '../../domain/handle.ts'
import { codeSpan, escapePlain, toLine } from '../../lib/escape.ts'
import { plain, type ActionButton } from './blocks.ts'
import { mention } from './build.ts'
import { ACTION_IDS } from './ids.ts'
import { COMMITTER_CHARS_MAX, cut } from './limits.ts'

// Texts about committers' names and the people they mean. Markup; the names are outside text.

/** `` `ada` ``, in full: nobody can have claimed a longer name. */
export const handleWords = (handle: string): string => codeSpan(cut(toLine(handle), HANDLE_CHARS_MAX)) || '(no name)'

/** How a command with this name is typed: `/ci me forget "ada lovelace"`. */
export function meCommand(before: string, handle: string, after = ''): string {
  const name = toLine(handle)
  const word = /\s/.test(name) ? `"${name}"` : name
  return ['/ci me', before, word, after].filter(Boolean).join(' ')
}

/** Claims the name of a build's committer. It carries only the build; the name is looked up when it is clicked. */
export const claimButton = (ref: string, committer: string | null): ActionButton => ({
  type: 'button',
  action_id: ACTION_IDS.claim,
  text: plain("That's me"),
  value: ref,
  // Everybody in the channel sees the button, and a click would take another person's name.
  confirm: {
    title: plain('Is this you?'),
    text: plain(`Failed builds of commits by ${nameOf(committer)} will mention you.`),
    confirm: plain("That's me"),
    deny: plain('No'),
  },
})

const nameOf = (committer: string | null): string =>
  escapePlain(cut(toLine(committer ?? ''), COMMITTER_CHARS_MAX)) || 'this committer'

/** `@Ada, is this you?`, the text beside that button; empty if it is not for a particular person. */
export const isThisYou = (user: string | null): string => (mention(user) === '' ? '' : `${mention(user)}, is this you?`)

/** Sent to the person to whom an admin gave a name. */
export function givenLine({ handle, was, by }: { handle: string; was: string | null; by: string }): string {
  const before = was === null ? '' : ` It was ${mention(was) || 'somebody else'}'s until now.`
  return [
    `:bust_in_silhouette: ${who(by)} assigned you the committer name ${handleWords(handle)}.${before}`,
    `A failed build of such a commit mentions you. If it is not yours, type ${codeSpan(meCommand('forget', handle))}.`,
  ].join(' ')
}

/** Sent to the person who lost a name because an admin gave it to somebody else. */
export const takenLine = ({ handle, user, by }: { handle: string; user: string; by: string }): string =>
  `:bust_in_silhouette: ${who(by)} assigned the committer name ${handleWords(handle)} to ${mention(user) || 'somebody else'}; it is no longer yours. If that is wrong, tell ${who(by)}.`

const who = (user: string): string => mention(user) || 'An admin'
