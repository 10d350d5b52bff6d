import { isRecord } from './json.ts'

// Reads values from outside without trusting their form: any may be missing, null, or of another type.

/** Null and a missing value mean the same. */
export const isNullish = (value: unknown): value is null | undefined => value === null || value === undefined

/** An own field of an object; undefined for inherited fields and for other values. */
export const fieldOf = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A string that is not blank, or a number as a string. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

/** The strings of a list, or the lines of one string. */
export const textsOf = (value: unknown): readonly string[] =>
  (typeof value === 'string' ? value.split('\n') : listOf(value)).flatMap((one) => textOf(one) ?? [])

/**
 * A string that is equal for equivalent values.
 * @param name the name of the field that holds the value; `isUnordered` uses it to decide whether a list's order
 *   matters
 */
export function canonical(
  value: unknown,
  { name = '', isUnordered = () => false }: { name?: string; isUnordered?: (name: string) => boolean } = {},
): string {
  if (Array.isArray(value)) {
    const items = value.map((item) => canonical(item, { isUnordered }))
    return `[${(isUnordered(name) ? items.sort() : items).join()}]`
  }
  if (!isRecord(value)) return JSON.stringify(value ?? null)
  const names = Object.keys(value).filter((one) => !isNullish(value[one]))
  return `{${names
    .sort()
    .map((one) => `${JSON.stringify(one)}:${canonical(value[one], { name: one, isUnordered })}`)
    .join()}}`
}
