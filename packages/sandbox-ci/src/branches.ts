import { RE2JS } from 're2js'
import type { NotificationRule, ProjectFields } from './state.ts'

/** Whether a rule's branch and `branch_match` select this branch. null or empty selects all; an invalid pattern selects nothing. */
export function ruleSelectsBranch(rule: Pick<NotificationRule, 'branch' | 'branch_match'>, branch: string): boolean {
  if (rule.branch === null || rule.branch === '') return true
  if (rule.branch_match === 'regex') return matchesWhole(rule.branch, branch)
  if (rule.branch_match === 'wildcard') return matchesWhole(wildcardSource(rule.branch), branch)
  return rule.branch === branch
}

/** Whether the project's branch filter lets this branch be built. No entries: every branch. */
export function isBranchBuilt(fields: Pick<ProjectFields, 'branches' | 'branch_match'>, branch: string): boolean {
  if (fields.branches.length === 0) return true
  const isListed = fields.branches.some((entry) => (isPattern(entry) ? matchesWhole(entry, branch) : entry === branch))
  return isListed === (fields.branch_match === 'include')
}

/** A regular expression must start with `^` and end with `$`; anything else is a full branch name. */
const isPattern = (entry: string): boolean => entry.startsWith('^') && entry.endsWith('$')

/** A branch filter entry that is neither a name nor a whole regular expression. */
export const isHalfPattern = (entry: string): boolean => entry.startsWith('^') !== entry.endsWith('$')

// Patterns are untrusted input. RE2 takes linear time; a pattern could make a backtracking engine hang.
function matchesWhole(source: string, text: string): boolean {
  try {
    return RE2JS.compile(source, RE2JS.DOTALL).matches(text)
  } catch {
    return false
  }
}

const wildcardSource = (pattern: string): string =>
  pattern
    .split('*')
    .map((part) => RE2JS.quote(part))
    .join('.*')
