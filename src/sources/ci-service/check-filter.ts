import { PATTERN_CHARS_MAX } from '../../domain/pattern.ts'
import type { FieldFault } from '../../domain/project.ts'
import { isBrokenRegex, lineFaults } from './check-rule.ts'

/** The most items of any list that are sent. */
export const LIST_ITEMS_MAX = 200

/** What is wrong with the entries of a branch filter: full names, or regexes from `^` to `$`. Source: interface, "Project". */
export function checkFilter(branches: readonly unknown[]): FieldFault[] {
  if (branches.length > LIST_ITEMS_MAX)
    return [{ field: 'branches', reason: `has more than ${LIST_ITEMS_MAX} entries` }]
  return branches.flatMap((entry, at) => entryFaults(`branches[${at}]`, entry))
}

function entryFaults(field: string, entry: unknown): FieldFault[] {
  if (typeof entry !== 'string') return [{ field, reason: 'must be text' }]
  if (entry.trim() === '') return [{ field, reason: 'is empty' }]
  const faults = lineFaults(field, entry, PATTERN_CHARS_MAX)
  const [begins, ends] = [entry.startsWith('^'), entry.endsWith('$')]
  if (begins !== ends) faults.push({ field, reason: 'a regular expression must start with ^ and end with $' })
  const isRegex = faults.length === 0 && begins
  if (isRegex && isBrokenRegex(entry)) faults.push({ field, reason: 'is no regular expression (RE2)' })
  return faults
}
