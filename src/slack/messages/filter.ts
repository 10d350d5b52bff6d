import type { BranchFilterWords } from '../../domain/pattern.ts'
import { andList, branchName, firstOf } from './build.ts'

/** The most entries of a filter that are shown. */
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

export const entryList = (entries: readonly string[]): string =>
  andList(firstOf(entries.map(branchName), ENTRIES_SHOWN_MAX, (left) => `${left} more`))
