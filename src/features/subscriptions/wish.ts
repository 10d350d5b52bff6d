import { canCoverBranch, matchBranch, patternMode } from '../../domain/pattern.ts'
import type { FieldFault } from '../../domain/project.ts'
import { CHANGES, EVENTS, type ChannelRule } from '../../domain/rule.ts'
import { readReminder, type ReminderFault } from './remind.ts'
import type { PatternQuestion, SubscribeWish } from './outcomes.ts'
import { nearest } from '../../lib/nearest.ts'
import { CUT, type Word } from '../../slack/commands/parse.ts'
import { partAt } from '../target.ts'

/** What is wrong with a wish, by field; empty: it can be kept. Pure. */
export const faultsOf = (wish: SubscribeWish): FieldFault[] => [
  ...(wish.project.trim() === '' ? [{ field: 'project', reason: 'is empty' }] : []),
  ...eventFaults(wish.events),
  ...patternFaults(wish),
]

function eventFaults(events: SubscribeWish['events']): FieldFault[] {
  if (events === null || events === 'every') return []
  if (events.length === 0) return [{ field: 'events', reason: 'needs at least one event' }]
  const known: readonly string[] = EVENTS
  return events
    .filter((event) => !known.includes(event))
    .map((event) => ({ field: 'events', reason: `knows no event ${event}` }))
}

function patternFaults({ branch, branchMatch }: SubscribeWish): FieldFault[] {
  if (branch === null || branch === '')
    return branchMatch === null || branchMatch === 'wildcard'
      ? []
      : [{ field: 'branch', reason: 'is empty, and there is a way to match it' }]
  if (!isPattern({ branch, branchMatch }))
    return [{ field: 'branch', reason: 'is no valid pattern, or too large a one' }]
  if (canCoverBranch(branch, branchMatch)) return []
  const regex = asRegex(branch)
  const example = regex === null ? '' : `, such as ${regex}`
  const reason = `can match nothing, since Git allows no such name; a regular expression goes from ^ to $${example}`
  return [{ field: 'branch', reason }]
}

/** What was perhaps meant as a regular expression, as one is written; null where it is none. */
function asRegex(branch: string): string | null {
  const [begins, ends] = [branch.startsWith('^'), branch.endsWith('$')]
  const regex = `${begins ? '' : ends ? '^.*' : '^'}${branch}${ends ? '' : begins ? '.*$' : '$'}`
  return isPattern({ branch: regex, branchMatch: 'regex' }) ? regex : null
}

export const isPattern = ({ branch, branchMatch }: Pick<PatternQuestion, 'branch' | 'branchMatch'>): boolean =>
  matchBranch(branch, branchMatch, 'main') !== 'invalid-pattern'

/** The rules that a wish comes to; null: the project's own, as CI holds them. */
export const rulesOf = ({ events, branch, branchMatch }: SubscribeWish): ChannelRule[] | null =>
  events === null && !branch
    ? null
    : [{ branch: branch || null, branchMatch: branch ? branchMatch : null, events: eventsOf(events) }]

/** The events that are chosen, in their order; all of them together are every event, also one that CI may add. */
export function eventsOf(events: SubscribeWish['events']): ChannelRule['events'] {
  if (events === null || events === 'every') return 'every'
  const chosen = EVENTS.filter((event) => events.includes(event))
  // `failed` includes `broken`.
  const isCovered = (event: string) => chosen.some((one) => one === (event === 'broken' ? 'failed' : event))
  return EVENTS.every(isCovered) ? 'every' : chosen
}

/** What was typed after `subscribe`: a wish, or why it is none. Nothing is kept on a guess. */
type WishReading =
  | { kind: 'nothing' }
  /** `rest`: what followed the project, to ask the same of another one */
  | { kind: 'wish'; wish: SubscribeWish; rest: readonly string[] }
  /** a name was begun and left empty: of a branch of this project, or (null) of a project */
  | { kind: 'nameless'; project: string | null }
  /** a word too many */
  | { kind: 'unclear'; extra: string }
  /** no branch can be called so. `regex`: how it is typed as a regular expression; null: it is none */
  | { kind: 'no-branch'; typed: string; regex: string | null }
  | ReminderFault
  /** nearly one of the words that mean something; it could be a branch as well */
  | { kind: 'near'; typed: string; meant: string }
  /** the one says the opposite of the other */
  | { kind: 'contradiction'; one: string; other: string }

/**
 * Reads `acme/web changes release/* quiet no-mention remind 2h`: after the project words in any order, at most one of them
 * a branch; the words of `remind` follow it. `*` makes it a pattern, `^…$` or `/…/` a regex; `@started` is the branch of that name.
 */
export function readWish(words: readonly Word[]): WishReading {
  if (words.includes(CUT)) return { kind: 'unclear', extra: CUT.text }
  const [first, ...others] = words.map(({ text }) => text)
  if (first === undefined) return { kind: 'nothing' }
  const [project, branch] = partAt(first)
  if (project === '') return { kind: 'nameless', project: null }
  return readRest(project, branch === null ? others : [`${BRANCH_SIGN}${branch}`, ...others])
}

/** Each word that names events, with those that it names. */
export const EVENT_WORDS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...EVENTS.map((event) => [event, [event]] as const),
  ['passed', ['success']],
  ['fixed', ['recovered']],
  ['changes', CHANGES],
])
const EVERYTHING = 'everything'
/** `@started` is no event. */
const BRANCH_SIGN = '@'
const QUIET = 'quiet'
const REMIND = 'remind'
const MENTIONS: ReadonlyMap<string, SubscribeWish['mention']> = new Map([
  ['mention', 'committer'],
  ['no-mention', 'nobody'],
])

const KNOWN_WORDS: readonly string[] = [...EVENT_WORDS.keys(), EVERYTHING, QUIET, REMIND, ...MENTIONS.keys()]

function readRest(project: string, rest: readonly string[]): WishReading {
  const at = rest.findIndex((text) => text.toLowerCase() === REMIND)
  const reminder = at < 0 ? NO_REMINDER : readReminder(rest.slice(at + 1))
  if (reminder.kind === 'no-reminder') return reminder
  const others = at < 0 ? rest : [...rest.slice(0, at), ...reminder.rest]
  const words = others.flatMap(listed)
  const branches = words.filter((text) => !isKnown(text))
  const known = words.map((text) => text.toLowerCase()).filter(isKnown)
  // Beside a branch, an unknown word in a list of events is a mistyped event.
  const inList = others.map(listed).flatMap((list) => (list.length > 1 ? list.filter((text) => !isKnown(text)) : []))
  const fault = branchFault(project, branches, inList[0]) ?? contradictionIn(known)
  if (fault) return fault
  const [branch = null] = branches
  const events = [...new Set(known.flatMap((text) => EVENT_WORDS.get(text) ?? []))]
  const wish: SubscribeWish = {
    project,
    events: known.includes(EVERYTHING) ? 'every' : events.length > 0 ? events : null,
    ...patternOf(branch),
    quiet: known.includes(QUIET),
    mention: MENTIONS.get(known.find((text) => MENTIONS.has(text)) ?? '') ?? 'committer',
    remind: reminder.remind,
  }
  return { kind: 'wish', wish, rest }
}

const NO_REMINDER = { kind: 'reminder', remind: null, rest: [] } as const

/** `failed,recovered` is both of them; a comma in what holds none of these words is the branch's own. */
function listed(text: string): string[] {
  const words = text.split(',').filter((word) => word !== '')
  return !text.startsWith(BRANCH_SIGN) && words.some(isKnown) ? words : [text]
}

const isKnown = (text: string): boolean => KNOWN_WORDS.includes(text.toLowerCase())

function branchFault(project: string, branches: readonly string[], inList: string | undefined): WishReading | null {
  const [branch, extra] = branches
  if (branch === undefined) return null
  if (branch === '' || branch === '@') return { kind: 'nameless', project }
  if (extra !== undefined) return { kind: 'unclear', extra: inList ?? extra }
  const pattern = patternOf(branch)
  if (pattern.branch !== null && !canCoverBranch(pattern.branch, pattern.branchMatch))
    return { kind: 'no-branch', typed: branch, regex: asRegex(pattern.branch) }
  const meant = isName(branch) ? nearest(branch, KNOWN_WORDS) : null
  return meant === null ? null : { kind: 'near', typed: branch, meant }
}

// A pattern or a path is no mistyped word.
const isName = (text: string): boolean => /^[\p{L}-]{2,}$/u.test(text)

function contradictionIn(known: readonly string[]): WishReading | null {
  const has = (text: string) => known.includes(text)
  if (has('mention') && has('no-mention')) return { kind: 'contradiction', one: 'mention', other: 'no-mention' }
  const event = known.find((text) => EVENT_WORDS.has(text))
  return has(EVERYTHING) && event !== undefined ? { kind: 'contradiction', one: EVERYTHING, other: event } : null
}

/** How a branch that was typed is matched. */
export function patternOf(typed: string | null): Pick<SubscribeWish, 'branch' | 'branchMatch'> {
  if (typed === null || typed === '') return { branch: null, branchMatch: null }
  const [, inner] = /^\/(.+)\/$/s.exec(typed) ?? []
  if (inner !== undefined) return { branch: inner, branchMatch: 'regex' }
  if (/^\^.*\$$/s.test(typed)) return { branch: typed, branchMatch: 'regex' }
  const branch = typed.startsWith(BRANCH_SIGN) ? typed.slice(BRANCH_SIGN.length) : typed
  return { branch, branchMatch: branch.includes('*') ? 'wildcard' : 'exact' }
}

/** The same turned round: what would be typed for a branch that is matched so. */
export function typedPattern({ branch, branchMatch }: Pick<ChannelRule, 'branch' | 'branchMatch'>): string {
  if (branch === null || branch === '') return ''
  const mode = patternMode(branch, branchMatch)
  if (mode === 'regex') return /^\^.*\$$/s.test(branch) ? branch : `/${branch}/`
  // A star that means itself.
  if (mode === 'exact' && branch.includes('*')) return `^${branch.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`
  return /^@|^\/.+\/$|^\^.*\$$/s.test(branch) ? `${BRANCH_SIGN}${branch}` : branch
}
