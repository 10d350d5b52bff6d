/** The types of the values at a path of fields; `messages[].ts` is in each item of a list. */
export type Fields = ReadonlyMap<string, ReadonlySet<string>>

/** The fields of all these values together. Null has no type. */
export function fieldsOf(...values: readonly unknown[]): Fields {
  const fields = new Map<string, Set<string>>()
  for (const value of values) collect(fields, '', value)
  return fields
}

function collect(fields: Map<string, Set<string>>, path: string, value: unknown): void {
  if (path !== '') fields.set(path, new Set([...(fields.get(path) ?? []), ...(value === null ? [] : [typeOf(value)])]))
  if (Array.isArray(value)) for (const one of value) collect(fields, `${path}[]`, one)
  else if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value)) collect(fields, path === '' ? name : `${path}.${name}`, inner)
}

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'list' : typeof value)

/**
 * What is wrong with `ours`, measured by the sample: fields that are missing, and fields of another type. Of an object
 * that is missing only itself is named, and of an empty list nothing.
 */
export function differences(sample: Fields, ours: Fields): string[] {
  const missing = [...sample.keys()].filter((path) => !ours.has(path) && !path.endsWith('[]'))
  const topmost = missing.filter((path) => parentOf(path) === '' || ours.has(parentOf(path)))
  const wrong = [...ours].filter(([path, types]) => [...types].some((type) => sample.get(path)?.has(type) === false))
  return [...topmost, ...wrong.map(([path, types]) => `${path} (${[...types].join(' or ')})`)]
}

function parentOf(path: string): string {
  if (path.endsWith('[]')) return path.slice(0, -2)
  return path.slice(0, Math.max(0, path.lastIndexOf('.')))
}
