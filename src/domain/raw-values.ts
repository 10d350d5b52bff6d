// The values of what others sent, read liberally: any may be missing, null, or of another form.

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** null and what is not there say the same. */
export const saysNothing = (value: unknown): value is null | undefined => value === null || value === undefined

/** A field of whatever it is; never what an object inherits. */
export const fieldOf = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A text that is not blank, or a number's digits. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

/** The texts of a list; of one text, its lines. */
export const textsOf = (value: unknown): readonly string[] =>
  (typeof value === 'string' ? value.split('\n') : listOf(value)).flatMap((one) => textOf(one) ?? [])

/**
 * A text that is equal for values that say the same.
 * @param isUnordered whether the order of a list means nothing, by the name of its field; `name`: that of the value itself
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
  const names = Object.keys(value).filter((one) => !saysNothing(value[one]))
  return `{${names
    .sort()
    .map((one) => `${JSON.stringify(one)}:${canonical(value[one], { name: one, isUnordered })}`)
    .join()}}`
}
