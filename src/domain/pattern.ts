import { RE2JS } from 're2js'
import { textOf, textsOf } from './raw-values.ts'

/** The longest pattern that is looked at, in characters; a longer one matches nothing and is reported. */
export const PATTERN_CHARS_MAX = 1_000

/**
 * The largest regex, in instructions of its compiled program; large honest ones have 500 to 750. Matching takes time
 * linear in the branch, but the factor is this.
 */
export const REGEX_SIZE_MAX = 1_000

/** The longest branch that a regex is tried on, in characters; it covers no longer one. Git hosts allow 255. */
export const REGEX_BRANCH_CHARS_MAX = 255

/** The regexes of one event: at most this many, the shortest first, and at most this many instructions together. */
export const REGEXES_MAX = 200
export const REGEXES_SIZE_MAX = 10_000

/** `unknown-branch`: the build named no branch, and only a pattern for all branches covers that. */
export type BranchMatch = 'all' | 'matched' | 'not-matched' | 'unknown-branch' | 'invalid-pattern'

/**
 * Does a rule's branch value cover this branch? null or empty covers all. `exact` is literal; in `wildcard` each `*`
 * stands for any run of characters, `/` included; `regex` is matched against the whole branch. Patterns come from
 * strangers, so all matching is in time linear in the branch (RE2). Without a mode, a value with `*` is a wildcard.
 */
export function matchBranch(pattern: string | null, mode: string | null, branch: string | null): BranchMatch {
  if (pattern === null || pattern === '') return 'all'
  if (branch === null)
    return /^\*+$/.test(pattern) && patternMode(pattern, mode) === 'wildcard' ? 'all' : 'unknown-branch'
  const matcher = matcherOf(pattern, mode)
  if (!matcher) return 'invalid-pattern'
  return matcher(branch) ? 'matched' : 'not-matched'
}

export const coversBranch = (match: BranchMatch): boolean => match === 'all' || match === 'matched'

type Matcher = (branch: string) => boolean

function matcherOf(pattern: string, mode: string | null): Matcher | null {
  if (pattern.length > PATTERN_CHARS_MAX) return null
  switch (patternMode(pattern, mode)) {
    case 'exact':
      return (branch) => branch === pattern
    case 'wildcard':
      return wildcard(pattern)
    case 'regex':
      return regex(pattern)
    default:
      return null
  }
}

/** The mode a pattern is matched in: the one it has, else by its look. */
export const patternMode = (pattern: string, mode: string | null): string =>
  mode?.trim().toLowerCase() || (pattern.includes('*') ? 'wildcard' : 'exact')

/**
 * Can there be a branch that this covers? Of what is no regex Git says it: a branch's name has none of these in it. What
 * `*` stands for is chosen so that it breaks no rule.
 */
export function canCoverBranch(pattern: string, mode: string | null): boolean {
  switch (patternMode(pattern, mode)) {
    case 'exact':
      return !NO_BRANCH.test(pattern)
    case 'wildcard':
      return !NO_BRANCH.test(pattern.replaceAll('*', 'x'))
    default:
      return true
  }
}

const NO_BRANCH = /[\p{Cc} ~^:?*[\\]|\.\.|@\{|^\/|\/\/|\/$|(?:^|\/)\.|\.$|\.lock(?:\/|$)/u

// Leftmost pieces first is enough for `*`: no backtracking, however many stars.
function wildcard(pattern: string): Matcher {
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.pop()
  if (tail === undefined) return (branch) => branch === pattern
  return (branch) => {
    if (branch.length < head.length + tail.length || !branch.startsWith(head) || !branch.endsWith(tail)) return false
    let from = head.length
    const end = branch.length - tail.length
    for (const piece of rest) {
      const at = branch.indexOf(piece, from)
      if (at < 0 || at + piece.length > end) return false
      from = at + piece.length
    }
    return true
  }
}

function regex(pattern: string): Matcher | null {
  const compiled = compile(pattern).regex
  return compiled && ((branch) => branch.length <= REGEX_BRANCH_CHARS_MAX && compiled.matches(branch))
}

/** Compiled regexes are kept until they are this many, or too large together: then all are forgotten. */
export const COMPILED_MAX = 500

interface Compiled {
  /** null: not valid, or too large */
  regex: RE2JS | null
  size: number
}

const compiledByPattern = new Map<string, Compiled>()
let sizeKept = 0

function compile(pattern: string): Compiled {
  const known = compiledByPattern.get(pattern)
  if (known) return known
  const program = tryCompile(pattern)
  const compiled = { regex: program, size: program?.programSize() ?? 0 }
  if (compiledByPattern.size >= COMPILED_MAX || sizeKept + compiled.size > REGEXES_SIZE_MAX) {
    compiledByPattern.clear()
    sizeKept = 0
  }
  compiledByPattern.set(pattern, compiled)
  sizeKept += compiled.size
  return compiled
}

function tryCompile(pattern: string): RE2JS | null {
  if (mayBeSlowToCompile(pattern)) return null
  try {
    const program = RE2JS.compile(pattern, RE2JS.DOTALL)
    return program.programSize() > REGEX_SIZE_MAX ? null : program
  } catch {
    // Whatever the reason, an invalid pattern matches nothing and is reported as such.
    return null
  }
}

/** Compiling this many instructions takes about 0.1 s. */
const UNCOMPILED_SIZE_MAX = 100_000

// Compiling is what tells the size, and a short pattern can have a million instructions. This estimate never falls short of
// the size: it takes every count for one that is nested in all others, whose product RE2 bounds at 1,000.
function mayBeSlowToCompile(pattern: string): boolean {
  let copies = 1
  for (const [, from, to] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    copies = Math.min(1_000, copies * Math.max(1, Number(from), Number(to ?? 0)))
  return pattern.length * copies > UNCOMPILED_SIZE_MAX
}

/**
 * The patterns among these that are too much for one event: regexes beyond REGEXES_MAX or REGEXES_SIZE_MAX, the largest
 * first, so that nobody's large patterns keep another channel's small ones from being matched.
 */
export function beyondOneEvent(rules: readonly { branch: string | null; branchMatch: string | null }[]): Set<string> {
  const regexes = new Set(
    rules.flatMap(({ branch, branchMatch }) =>
      branch && branch.length <= PATTERN_CHARS_MAX && patternMode(branch, branchMatch) === 'regex' ? [branch] : [],
    ),
  )
  const shortestFirst = [...regexes].toSorted((a, b) => a.length - b.length)
  const sized = shortestFirst.slice(0, REGEXES_MAX).map((pattern) => ({ pattern, size: compile(pattern).size }))
  const beyond = new Set(shortestFirst.slice(REGEXES_MAX))
  let size = 0
  for (const one of sized.toSorted((a, b) => a.size - b.size)) {
    size += one.size
    if (size > REGEXES_SIZE_MAX) beyond.add(one.pattern)
  }
  return beyond
}

/** Which branches CI builds of a project. */
export interface BranchFilter {
  /** `include`, `exclude`, CI's own word; null where it gave none */
  mode: string | null
  /** full branch names, and regexes from `^` to `$`; none: every branch is built */
  entries: readonly string[]
}

/** The filter of a project as CI sent it. */
export const filterOf = (raw: Record<string, unknown>): BranchFilter => ({
  mode: textOf(raw['branch_match']),
  entries: textsOf(raw['branches']),
})

/** A filter to be said in words. `unclear`: there are entries, and CI's word does not say which way they work. */
export type BranchFilterWords =
  | { kind: 'all' }
  | { kind: 'only' | 'not'; entries: readonly string[] }
  | { kind: 'unclear'; mode: string | null; entries: readonly string[] }

export function filterInWords({ mode, entries }: BranchFilter): BranchFilterWords {
  if (entries.length === 0) return { kind: 'all' }
  const way = wayOf(mode)
  if (way === null) return { kind: 'unclear', mode, entries }
  return { kind: way === 'include' ? 'only' : 'not', entries }
}

interface FilterVerdict {
  /** null: there are entries, and it is not known whether they include or exclude */
  isBuilt: boolean | null
  /** the entry that decided: the first that matches; null where none does */
  by: string | null
  /** entries that can match nothing: those that only begin or only end as a regex, and regexes that are invalid or too large */
  invalid: readonly string[]
}

/** Would CI build this branch? In time linear in the branch. What else keeps a build from running is not looked at. */
export function wouldBuild({ mode, entries }: BranchFilter, branch: string): FilterVerdict {
  const beyond = beyondOneEvent(entries.map((entry) => ({ branch: entry, branchMatch: modeOf(entry) })))
  const looked = entries.map((entry) => ({
    entry,
    match: beyond.has(entry) ? ('invalid-pattern' as const) : matchEntry(entry, branch),
  }))
  const by = looked.find(({ match }) => match === 'matched')?.entry ?? null
  const invalid = looked.filter(({ match }) => match === 'invalid-pattern').map(({ entry }) => entry)
  return { isBuilt: isBuilt(mode, entries.length, by !== null), by, invalid: [...new Set(invalid)] }
}

function matchEntry(entry: string, branch: string): BranchMatch {
  const mode = modeOf(entry)
  return mode ? matchBranch(entry, mode, branch) : 'invalid-pattern'
}

function modeOf(entry: string): 'regex' | 'exact' | null {
  const [begins, ends] = [entry.startsWith('^'), entry.endsWith('$')]
  return begins === ends ? (begins ? 'regex' : 'exact') : null
}

function isBuilt(mode: string | null, entries: number, isListed: boolean): boolean | null {
  if (entries === 0) return true
  const way = wayOf(mode)
  return way === null ? null : isListed === (way === 'include')
}

// CI does not say what a filter without a word does: a guess would be wrong for every branch.
function wayOf(mode: string | null): 'include' | 'exclude' | null {
  const word = mode?.trim().toLowerCase()
  return word === 'include' || word === 'exclude' ? word : null
}
