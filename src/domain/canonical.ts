import { isRecord, saysNothing } from './raw-values.ts'

/** The fields of a project whose items CI may answer in another order, which says nothing. */
export const ORDER_FREE: ReadonlySet<string> = new Set(['notification_rules', 'branches', 'team_ids', 'build_statuses'])

/** A text that is equal for values that say the same, where the order of items says something too. */
export const canonical = (value: unknown): string => written('', value, new Set())

/** The same for a field of a project: of its items, and of those within, in whatever order `ORDER_FREE` lets them be. */
export const canonicalField = (name: string, value: unknown): string => written(name, value, ORDER_FREE)

function written(name: string, value: unknown, orderFree: ReadonlySet<string>): string {
  if (Array.isArray(value)) {
    const items = value.map((item) => written('', item, orderFree))
    return `[${(orderFree.has(name) ? items.sort() : items).join()}]`
  }
  if (!isRecord(value)) return JSON.stringify(value ?? null)
  const names = Object.keys(value).filter((one) => !saysNothing(value[one]))
  return `{${names
    .sort()
    .map((one) => `${JSON.stringify(one)}:${written(one, value[one], orderFree)}`)
    .join()}}`
}
