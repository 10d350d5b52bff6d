import { RE2JS } from 're2js'
import { textOf, textsOf } from '../../lib/raw-values.ts'
import { branchIn } from '../builds/stream.ts'

/** The longest valid pattern, in characters; a longer one matches nothing and is reported. */
export const PATTERN_CHARS_MAX = 1_000

/**
 * The largest regex, in instructions of its compiled program; large legitimate ones have 500 to 750. Matching takes
 * time linear in the length of the branch, and this is the factor.
 */
export const REGEX_SIZE_MAX = 1_000

/** The longest branch that a regex can match, in characters. Git hosts allow 255. */
export const REGEX_BRANCH_CHARS_MAX = 255

/** The limits for one event: this many regexes, the shortest first, and this many instructions in total. */
export const REGEXES_MAX = 200
export const REGEXES_SIZE_MAX = 10_000

/** `unknown-branch`: the build named no branch, so only a pattern for all branches would cover it. */
export type BranchMatch = 'all' | 'matched' | 'not-matched' | 'unknown-branch' | 'invalid-pattern'

/**
 * Whether a rule's branch value covers this branch. Null or empty covers all. `exact` is literal; in `wildcard` each
 * `*` matches any characters, also `/`; `regex` must match the whole branch. Patterns are untrusted, so all matching
 * takes time linear in the length of the branch (RE2). Without a mode, a value with `*` is a wildcard.
 * @param branch the name of a stream: a rule covers all streams of a branch, whatever starts their builds
 */
export function matchBranch(pattern: string | null, mode: string | null, branch: string | null): BranchMatch {
  if (pattern === null || pattern === '') return 'all'
  if (branch === null)
    return /^\*+$/.test(pattern) && patternMode(pattern, mode) === 'wildcard' ? 'all' : 'unknown-branch'
  const matcher = matcherOf(pattern, mode)
  if (!matcher) return 'invalid-pattern'
  return matcher(branchIn(branch)) ? 'matched' : 'not-matched'
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

/** The mode in which a pattern is matched: the given one, else `wildcard` if it has a `*`, else `exact`. */
export const patternMode = (pattern: string, mode: string | null): string =>
  mode?.trim().toLowerCase() || (pattern.includes('*') ? 'wildcard' : 'exact')

/**
 * Whether this pattern can match any branch. An exact or wildcard pattern cannot if it contains what Git forbids in a
 * branch name; an `x`, which Git allows, stands in for each `*`. Regexes are not checked.
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

// It is enough to find each piece at its leftmost place, so there is no backtracking, even with many `*`.
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

/** The cache of compiled regexes is cleared when it has this many, or REGEXES_SIZE_MAX instructions in total. */
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
    // An invalid pattern matches nothing and is reported as invalid, whatever the reason.
    return null
  }
}

/** Compiling this many instructions takes about 0.1 s. */
const UNCOMPILED_SIZE_MAX = 100_000

// The size is known only after compiling, and a short pattern can have a million instructions. This estimate is never
// too low: it treats all repetition counts as nested, and RE2 limits the product of nested counts to 1,000.
function mayBeSlowToCompile(pattern: string): boolean {
  let copies = 1
  for (const [, from, to] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    copies = Math.min(1_000, copies * Math.max(1, Number(from), Number(to ?? 0)))
  return pattern.length * copies > UNCOMPILED_SIZE_MAX
}

/**
 * The patterns that exceed the limits of one event, REGEXES_MAX and REGEXES_SIZE_MAX. The largest regexes are left out
 * first, so that one channel's large patterns do not keep another channel's small ones from being matched.
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

/** The filter of the branches of a project that CI builds. */
export interface BranchFilter {
  /** `include`, `exclude`, or CI's own word; null if it gave none */
  mode: string | null
  /** full branch names, and regexes from `^` to `$`; empty: every branch is built */
  entries: readonly string[]
}

export const filterOf = (raw: Record<string, unknown>): BranchFilter => ({
  mode: textOf(raw['branch_match']),
  entries: textsOf(raw['branches']),
})

/** A filter to put into words. `unclear`: there are entries, but the mode is neither `include` nor `exclude`. */
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

// CI does not document filters without a mode, and a wrong guess would be wrong for every branch.
function wayOf(mode: string | null): 'include' | 'exclude' | null {
  const word = mode?.trim().toLowerCase()
  return word === 'include' || word === 'exclude' ? word : null
}
