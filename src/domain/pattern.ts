import { RE2JS } from 're2js'

/** The longest pattern that is looked at, in characters; a longer one matches nothing and is reported. */
export const PATTERN_CHARS_MAX = 1_000

/**
 * The most pieces a regex may have once its counted repetitions are written out: `(ab){50}` has 100. Matching is linear
 * in the branch, but the factor is this.
 */
export const REGEX_PIECES_MAX = 1_500

/** The longest branch that a regex is tried on, in characters; it covers no longer one, which no repository can have. */
export const REGEX_BRANCH_CHARS_MAX = 1_500

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
  const compiled = compile(pattern)
  return compiled && ((branch) => branch.length <= REGEX_BRANCH_CHARS_MAX && compiled.matches(branch))
}

/**
 * Rules are few and asked for every fact: so many compiled patterns are kept, with so many pieces in all. Matching leaves
 * some KB at each piece, so that five hundred of the largest would take half a GB.
 */
export const COMPILED_MAX = 500
export const COMPILED_PIECES_MAX = 10_000

interface Compiled {
  regex: RE2JS | null
  pieces: number
}

const compiledByPattern = new Map<string, Compiled>()
let piecesKept = 0

function compile(pattern: string): RE2JS | null {
  const known = compiledByPattern.get(pattern)
  if (known) return known.regex
  const pieces = piecesOf(pattern)
  const compiled = pieces > REGEX_PIECES_MAX ? null : tryCompile(pattern)
  keep(pattern, { regex: compiled, pieces: compiled ? pieces : 1 })
  return compiled
}

function keep(pattern: string, compiled: Compiled): void {
  const isFull = compiledByPattern.size >= COMPILED_MAX || piecesKept + compiled.pieces > COMPILED_PIECES_MAX
  if (isFull) {
    compiledByPattern.clear()
    piecesKept = 0
  }
  compiledByPattern.set(pattern, compiled)
  piecesKept += compiled.pieces
}

function tryCompile(pattern: string): RE2JS | null {
  try {
    return RE2JS.compile(pattern, RE2JS.DOTALL)
  } catch {
    // Whatever the reason, an invalid pattern matches nothing and is reported as such.
    return null
  }
}

// One piece: an escape, a class, a count, a parenthesis, or any other character.
const PIECE = /\\[xpP]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[\s\S]/g

function piecesOf(pattern: string): number {
  const groups = [0]
  let last = 0
  for (const [piece, from, to] of pattern.matchAll(PIECE)) {
    if (piece === '(') groups.push(0)
    else if (from !== undefined) {
      // The copies beyond the one that is counted already.
      const copies = Math.max(1, Number(from), Number(to ?? 0))
      groups.push((groups.pop() ?? 0) + last * (copies - 1))
      last *= copies
    } else {
      last = piece === ')' ? Math.max(1, groups.length > 1 ? groups.pop()! : 0) : 1
      groups.push((groups.pop() ?? 0) + last)
    }
  }
  return groups.reduce((sum, pieces) => sum + pieces, 0)
}
