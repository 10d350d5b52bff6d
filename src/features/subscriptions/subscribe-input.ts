import { canCoverBranch, matchBranch, patternMode } from '../../domain/rules/pattern.ts'
import { DETAILS, type Details } from '../../domain/builds/failure.ts'
import { CHANGES, RULE_EVENTS, type ChannelRule, type FieldFault } from '../../domain/rules/rule.ts'
import { readReminder, type ReminderFault, type ReminderInput } from './remind.ts'
import { nearest } from '../../lib/nearest.ts'
import { CUT, parseName, partAt, type Word } from '../../slack/commands/parse.ts'

export interface SubscribeInput {
  /** a project as people name it; `all` */
  project: string
  /** `every` includes stopped and unknown statuses; null: every event of the branch or, without one, CI's rules */
  events: readonly string[] | 'every' | null
  branch: string | null
  branchMatch: 'exact' | 'wildcard' | 'regex' | null
  quiet: boolean
  mention: 'committer' | 'nobody'
  /** left out: `lines` */
  details?: Details
  /** null: no reminders; left out: those of the subscription that it replaces */
  remind?: ReminderInput | null
  /** the id of the subscription to replace, whatever that one follows; left out: the one of the same branches */
  instead?: string
}

/** The faults of a wish, by field; empty: it is valid. Pure. */
export const faultsOf = (input: SubscribeInput): FieldFault[] => [
  ...(input.project.trim() === '' ? [{ field: 'project', reason: 'is empty' }] : []),
  ...eventFaults(input.events),
  ...patternFaults(input),
]

function eventFaults(events: SubscribeInput['events']): FieldFault[] {
  if (events === null || events === 'every') return []
  if (events.length === 0) return [{ field: 'events', reason: 'needs at least one event' }]
  const known: readonly string[] = RULE_EVENTS
  return events
    .filter((event) => !known.includes(event))
    .map((event) => ({ field: 'events', reason: `contains an unknown event: ${event}` }))
}

function patternFaults({ branch, branchMatch }: SubscribeInput): FieldFault[] {
  if (branch === null || branch === '')
    return branchMatch === null || branchMatch === 'wildcard'
      ? []
      : [{ field: 'branch', reason: 'is empty, but there is a match mode' }]
  if (!isPattern({ branch, branchMatch }))
    return [{ field: 'branch', reason: 'is not a valid pattern, or is too large' }]
  if (canCoverBranch(branch, branchMatch)) return []
  const regex = asRegex(branch)
  const example = regex === null ? '' : `, such as ${regex}`
  const reason = `can match nothing, since Git does not allow such a name; a regular expression starts with ^ and ends with $${example}`
  return [{ field: 'branch', reason }]
}

/** The text as a regular expression from ^ to $, in case one was meant; null if it is not valid. */
function asRegex(branch: string): string | null {
  const [begins, ends] = [branch.startsWith('^'), branch.endsWith('$')]
  const regex = `${begins ? '' : ends ? '^.*' : '^'}${branch}${ends ? '' : begins ? '.*$' : '$'}`
  return isPattern({ branch: regex, branchMatch: 'regex' }) ? regex : null
}

/** Whether this means all projects. */
export const isAll = (text: string): boolean => text.trim().toLowerCase() === 'all'

export const isPattern = ({ branch, branchMatch }: Pick<SubscribeInput, 'branch' | 'branchMatch'>): boolean =>
  matchBranch(branch, branchMatch, 'main') !== 'invalid-pattern'

/** The rules of a wish; null: the project's own rules in CI. */
export const rulesOf = ({
  events,
  branch,
  branchMatch,
}: Pick<SubscribeInput, 'events' | 'branch' | 'branchMatch'>): ChannelRule[] | null =>
  events === null && !branch
    ? null
    : [{ branch: branch || null, branchMatch: branch ? branchMatch : null, events: eventsOf(events) }]

/** The chosen events, in order. All of them together mean `every`, which includes events that CI may add. */
function eventsOf(events: SubscribeInput['events']): ChannelRule['events'] {
  if (events === null || events === 'every') return 'every'
  const chosen = RULE_EVENTS.filter((event) => events.includes(event))
  // `failed` includes `broken`.
  const isCovered = (event: string) => chosen.some((one) => one === (event === 'broken' ? 'failed' : event))
  return RULE_EVENTS.every(isCovered) ? 'every' : chosen
}

/** The words after `subscribe`, as a wish or the reason why they were not understood. */
type SubscribeReading =
  | { kind: 'nothing' }
  /** `rest`: the words after the project, to repeat the wish for another project */
  | { kind: 'wish'; input: SubscribeInput; rest: readonly string[] }
  /** the name of a branch of this project, or (null) of a project, is empty */
  | { kind: 'nameless'; project: string | null }
  /** `extra`: a surplus word */
  | { kind: 'unclear'; extra: string }
  | Misread

/** Misunderstood words that need more explanation than the usage. */
export type Misread =
  /** no branch can have this name. `regex`: how to type it as a regular expression; null: it is not one */
  | { kind: 'no-branch'; typed: string; regex: string | null }
  | ReminderFault
  /** after `details` comes none of its words, but this one; null: nothing */
  | { kind: 'no-details'; typed: string | null }
  /** close to a keyword (`meant`), but it could also be a branch */
  | { kind: 'near'; typed: string; meant: string }
  /** two words that contradict each other */
  | { kind: 'contradiction'; one: string; other: string }

/**
 * Reads `acme/web changes release/* quiet no-mention details names remind 2h`: a project, then words in any order, at most one a
 * branch. The words of `details` and `remind` follow them. `*` makes a branch a pattern, `^…$` or `/…/` a regex, `@` marks it.
 */
export function readSubscribe(words: readonly Word[]): SubscribeReading {
  if (words.includes(CUT)) return { kind: 'unclear', extra: CUT.text }
  const [first, ...others] = words.map(({ text }) => text)
  if (first === undefined) return { kind: 'nothing' }
  const [project, branch] = partAt(first)
  if (project === '') return { kind: 'nameless', project: null }
  return readRest(project, branch === null ? others : [`${BRANCH_SIGN}${branch}`, ...others])
}

/** Each word that names events, with these events. */
export const EVENTS_BY_WORD: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...RULE_EVENTS.map((event) => [event, [event]] as const),
  ['passed', ['success']],
  ['fixed', ['recovered']],
  ['changes', CHANGES],
])
const EVERYTHING: readonly string[] = ['everything', 'all']
/** Marks a branch: `@started` is not the event. */
const BRANCH_SIGN = '@'
const QUIET = 'quiet'
const REMIND = 'remind'
const DETAILED = 'details'
const MENTIONS: ReadonlyMap<string, SubscribeInput['mention']> = new Map([
  ['mention', 'committer'],
  ['no-mention', 'nobody'],
])

const KNOWN_WORDS: readonly string[] = [
  ...EVENTS_BY_WORD.keys(),
  ...EVERYTHING,
  QUIET,
  REMIND,
  DETAILED,
  ...MENTIONS.keys(),
]

function readRest(project: string, all: readonly string[]): SubscribeReading {
  const detailedAt = all.findIndex((text) => text.toLowerCase() === DETAILED)
  const detailed = detailedAt < 0 ? null : (all[detailedAt + 1] ?? '').toLowerCase()
  const details = DETAILS.find((one) => one === detailed)
  if (detailed !== null && !details) return { kind: 'no-details', typed: all[detailedAt + 1] ?? null }
  const rest = detailed === null ? all : all.toSpliced(detailedAt, 2)
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
  const events = [...new Set(known.flatMap((text) => EVENTS_BY_WORD.get(text) ?? []))]
  const input: SubscribeInput = {
    project,
    events: known.some(isEverything) ? 'every' : events.length > 0 ? events : null,
    ...patternOf(branch),
    quiet: known.includes(QUIET),
    mention: MENTIONS.get(known.find((text) => MENTIONS.has(text)) ?? '') ?? 'committer',
    ...(details && { details }),
    remind: reminder.remind,
  }
  return { kind: 'wish', input, rest: all }
}

const NO_REMINDER = { kind: 'reminder', remind: null, rest: [] } as const

/** Splits `failed,recovered`. A comma in a text without any keyword belongs to the branch. */
function listed(text: string): string[] {
  const words = text.split(',').filter((word) => word !== '')
  return !text.startsWith(BRANCH_SIGN) && words.some(isKnown) ? words : [text]
}

const isKnown = (text: string): boolean => KNOWN_WORDS.includes(text.toLowerCase())

function branchFault(
  project: string,
  branches: readonly string[],
  inList: string | undefined,
): SubscribeReading | null {
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

// Patterns and paths are never mistyped keywords.
const isName = (text: string): boolean => /^[\p{L}-]{2,}$/u.test(text)

function contradictionIn(known: readonly string[]): SubscribeReading | null {
  const has = (text: string) => known.includes(text)
  if (has('mention') && has('no-mention')) return { kind: 'contradiction', one: 'mention', other: 'no-mention' }
  const [every, event] = [known.find(isEverything), known.find((text) => EVENTS_BY_WORD.has(text))]
  return every !== undefined && event !== undefined ? { kind: 'contradiction', one: every, other: event } : null
}

const isEverything = (text: string): boolean => EVERYTHING.includes(text)

/** How a typed branch is matched. */
export function patternOf(typed: string | null): Pick<SubscribeInput, 'branch' | 'branchMatch'> {
  if (typed === null || typed === '') return { branch: null, branchMatch: null }
  const [, inner] = /^\/(.+)\/$/s.exec(typed) ?? []
  if (inner !== undefined) return { branch: inner, branchMatch: 'regex' }
  if (/^\^.*\$$/s.test(typed)) return { branch: typed, branchMatch: 'regex' }
  const branch = typed.startsWith(BRANCH_SIGN) ? typed.slice(BRANCH_SIGN.length) : typed
  return { branch, branchMatch: branch.includes('*') ? 'wildcard' : 'exact' }
}

/** The reverse: the text that a person would type to match branches in this way. */
export function typedPattern({ branch, branchMatch }: Pick<ChannelRule, 'branch' | 'branchMatch'>): string {
  if (branch === null || branch === '') return ''
  const mode = patternMode(branch, branchMatch)
  if (mode === 'regex') return /^\^.*\$$/s.test(branch) ? branch : `/${branch}/`
  // A literal star, and marks that `parseWords` would remove.
  if (mode === 'exact' && (branch.includes('*') || !isReadAsIs(branch)))
    return `^${branch.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`
  return /^@|^\/.+\/$|^\^.*\$$/s.test(branch) || !isReadAsIs(branch) ? `${BRANCH_SIGN}${branch}` : branch
}

const isReadAsIs = (typed: string): boolean => parseName(typed) === typed
