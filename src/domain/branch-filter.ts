import { beyondOneEvent, matchBranch, type BranchMatch } from './pattern.ts'
import { textOf, textsOf } from './raw-values.ts'

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

export interface FilterVerdict {
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
