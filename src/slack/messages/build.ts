import { codeSpan, escapeMrkdwn, escapePlain, firstLine, httpUrl, mrkdwnLink, toLine } from '../../lib/escape.ts'
import { shownStream } from '../../domain/builds/stream.ts'
import type { BuildView } from '../../domain/cards/view.ts'
import { mrkdwn, plain, type TextObject, type ActionButton } from './blocks.ts'
import {
  BRANCH_CHARS_MAX,
  BUILD_ID_CHARS_MAX,
  BUTTON_URL_CHARS_MAX,
  COMMIT_CHARS_MAX,
  COMMITTER_CHARS_MAX,
  CONTEXT_URL_CHARS_MAX,
  cut,
  INLINE_URL_CHARS_MAX,
  MESSAGE_CHARS_MAX,
  PROJECT_CHARS_MAX,
  TITLE_CHARS_MAX,
} from './limits.ts'
import type { BranchFilterWords } from '../../domain/rules/pattern.ts'
import { HANDLE_CHARS_MAX } from '../../domain/handle.ts'
import { ACTION_IDS } from './ids.ts'

// Texts about a build. All of its parts are outside text, and are cut and escaped here.

/** `web #512`, with the attempt if it is not the first. Markup. */
export function buildName(build: BuildView, attemptNumber = 1): string {
  const again = attemptNumber > 1 ? ` (attempt ${attemptNumber})` : ''
  return `${projectLabel(build)} ${buildNumber(build)}${again}`
}

/** The same, with the number as the link to the build. Markup. */
export const linkedBuild = (build: BuildView): string =>
  `${projectLabel(build)} ${mrkdwnLink(build.buildUrl, buildNumber(build), INLINE_URL_CHARS_MAX)}`

export const projectLabel = ({ project }: Pick<BuildView, 'project'>): string =>
  outside(project, PROJECT_CHARS_MAX) || '(no name)'

export const buildNumber = ({ buildId }: Pick<BuildView, 'buildId'>): string =>
  `#${outside(buildId, BUILD_ID_CHARS_MAX)}`

/** `` on `main` `` with its leading blank; empty without a branch. Markup. */
export function onBranch({ branch }: Pick<BuildView, 'branch'>): string {
  const name = branch === null ? '' : codeSpan(plainStream(branch))
  return name === '' ? '' : ` on ${name}`
}

/** The same, with a pull or merge request as the link to it. Markup. */
export function onLinkedBranch({ branch, requestUrl }: Pick<BuildView, 'branch' | 'requestUrl'>): string {
  const label = branch === null ? '' : outside(shownStream(branch), BRANCH_CHARS_MAX)
  const link = mrkdwnLink(requestUrl ?? null, label, INLINE_URL_CHARS_MAX)
  return link === label ? onBranch({ branch }) : ` on ${link}`
}

/** `` `main` ``: a branch, a stream, or a pattern of branches. Markup. */
export const branchName = (branch: string): string => codeSpan(plainStream(branch)) || '(no name)'

const plainStream = (stream: string): string => cut(toLine(shownStream(stream)), BRANCH_CHARS_MAX)

/**
 * `fix login · a1b2c · Ada`, without parts that are missing. Markup.
 * @param mentioned the Slack user to mention in place of the committer's name
 */
export const commitLine = (
  { commit, committer, message, requestedBy }: BuildView,
  mentioned: string | null = null,
): string =>
  joined([
    message === null ? '' : outside(firstLine(message), TITLE_CHARS_MAX),
    outside(commit, COMMIT_CHARS_MAX),
    mention(mentioned ?? requestedBy ?? null) || outside(committer, COMMITTER_CHARS_MAX),
  ])

/** The first line of the commit's message, the commit as a link, and its committer: elements for a context block. */
export function commitElements(build: BuildView, mentioned: string | null = null): (TextObject | null)[] {
  const label = outside(build.commit, COMMIT_CHARS_MAX) || (build.commitUrl === null ? '' : 'commit')
  const link = mrkdwnLink(build.commitUrl, label, CONTEXT_URL_CHARS_MAX)
  const who = mention(mentioned ?? build.requestedBy ?? null)
  const name = build.committer === null ? null : outsidePlain(build.committer, COMMITTER_CHARS_MAX)
  return [
    build.message === null ? null : outsidePlain(firstLine(build.message), MESSAGE_CHARS_MAX),
    // The word `commit` says nothing without an id or a link.
    link === 'commit' ? null : mrkdwn(link),
    who === '' ? name : mrkdwn(who),
  ]
}

/** Where the build can be opened; null if CI gave no address that is safe to link to. */
export const buildUrl = (build: BuildView): string | null => httpUrl(build.buildUrl, BUTTON_URL_CHARS_MAX)

/** Parts of one line; empty ones are left out. */
export const joined = (parts: readonly (string | null | undefined)[], by = ' · '): string =>
  parts.filter(Boolean).join(by)

/** At most `max` of the items, and how many are left out. */
export function firstOf<Item>(items: readonly Item[], max: number, more: (left: number) => Item): readonly Item[] {
  const left = items.length - max
  return left > 0 ? [...items.slice(0, max), more(left)] : items
}

/** `a, b and c` */
export const andList = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** The first of several texts, and how many are left out: `started, failed, and 3 more`. */
export const firstFew = (texts: readonly string[], max: number, by = ', '): string =>
  firstOf(texts, max, (left) => `and ${left} more`).join(by)

/** Outside text as markup, at most `charsMax` code points of it. */
export const outside = (text: string | null, charsMax: number): string =>
  text === null ? '' : escapeMrkdwn(cut(toLine(text), charsMax))

const outsidePlain = (text: string, charsMax: number): TextObject => plain(escapePlain(cut(toLine(text), charsMax)))

/** `<@U…>` for a Slack user's id; empty for anything else. */
export const mention = (user: string | null): string => (user !== null && USER.test(user) ? `<@${user}>` : '')

/** The same; `Somebody` if it is not an id. */
export const somebody = (user: string | null): string => mention(user) || 'Somebody'

const USER = /^[UW][A-Z0-9]{2,20}$/

export const buildCount = (builds: number): string => counted(builds, 'build')

/** `1 build`, `212 builds` */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`

export const ENTRIES_SHOWN_MAX = 10

/** ``builds `main` and `^release/.*$`, and no other branch``: what CI's branch filter does. Markup. */
export function filterWords(words: BranchFilterWords): string {
  switch (words.kind) {
    case 'all':
      return 'builds every branch'
    case 'only':
      return `builds ${entryList(words.entries)}, and no other branch`
    case 'not':
      return `builds every branch but ${entryList(words.entries)}`
    case 'unclear':
      return `names ${entryList(words.entries)}, and CI does not say whether it builds these or all others`
  }
}

const entryList = (entries: readonly string[]): string =>
  andList(firstOf(entries.map(branchName), ENTRIES_SHOWN_MAX, (left) => `${left} more`))

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
