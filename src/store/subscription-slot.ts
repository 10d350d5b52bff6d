import { patternMode } from '../domain/pattern.ts'
import type { ChannelRule } from '../domain/rule.ts'
import { nameKey, type Follows } from '../domain/subscription.ts'

/**
 * A key that two subscriptions of a channel share if and only if the later one replaces the earlier one: they are for
 * the same project (by uuid, else by id, else by name) or for all, and for the same branches, however they are written.
 */
export const subscriptionSlot = (follows: Follows, rules: readonly ChannelRule[] | null): string =>
  JSON.stringify([...followedKey(follows), ...branchKeys(rules ?? [])])

function followedKey(follows: Follows): [what: string, key: string] {
  if (follows.what !== 'project') return [follows.what, '']
  if (follows.uuid) return ['uuid', follows.uuid.toLowerCase()]
  return follows.projectId ? ['id', follows.projectId] : ['name', nameKey(follows.name)]
}

/** Empty if any rule is for every branch: the other rules' branches add nothing. */
function branchKeys(rules: readonly ChannelRule[]): string[] {
  const keys = rules.map(branchKey)
  return keys.includes(EVERY_BRANCH) ? [] : [...new Set(keys)].sort()
}

const EVERY_BRANCH = ''

function branchKey({ branch, branchMatch }: ChannelRule): string {
  if (branch === null || branch === '') return EVERY_BRANCH
  const mode = patternMode(branch, branchMatch)
  if (mode !== 'wildcard') return `${mode}:${branch}`
  const pattern = branch.replaceAll(/\*+/g, '*')
  if (pattern === '*') return EVERY_BRANCH
  return `${pattern.includes('*') ? mode : 'exact'}:${pattern}`
}
