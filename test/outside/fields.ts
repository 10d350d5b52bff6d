/** A field's path, such as `builds[].id`, and the types of its values in all items of a list. */
type Fields = Map<string, Set<string>>

/**
 * What recorded JSON has and our own lacks, in words: each field must be there, with each of its types. Several of
 * our own may have it together. A field that is always null in the recording may be of any type.
 */
export function missingFields(recorded: unknown, ...own: readonly unknown[]): string[] {
  const [theirs, ours] = [fieldsOf([recorded]), fieldsOf(own)]
  return [...theirs].flatMap(([path, types]) => {
    const known = ours.get(path)
    if (!known) return `${path} is missing`
    const wanted = [...types].filter((type) => type !== 'null' && !known.has(type))
    return wanted.length === 0 ? [] : `${path} is ${[...known].join(', ')}, and not ${wanted.join(', ')}`
  })
}

/** The paths of all fields of some JSON. */
export const pathsIn = (value: unknown): string[] => [...fieldsOf([value]).keys()]

/** A copy in which the field with this path has another value in each item of a list; left out: without the field. */
export function changed(value: unknown, path: string, other?: unknown): unknown {
  const [first = '', ...rest] = path.split('.')
  const name = first.replace(/\[\]$/, '')
  if (typeof value !== 'object' || value === null || !(name in value)) return value
  const { [name]: held, ...others } = value as Record<string, unknown>
  const within = (one: unknown) => (rest.length > 0 ? changed(one, rest.join('.'), other) : other)
  if (name !== first) return { ...value, [name]: rest.length > 0 ? [held].flat().map(within) : [other] }
  return rest.length === 0 && other === undefined ? others : { ...value, [name]: within(held) }
}

function fieldsOf(values: readonly unknown[]): Fields {
  const fields: Fields = new Map()
  for (const value of values) gather(value, '', fields)
  return fields
}

function gather(value: unknown, path: string, into: Fields): void {
  if (path !== '') into.set(path, (into.get(path) ?? new Set()).add(typeOf(value)))
  if (Array.isArray(value)) for (const item of value) gather(item, `${path}[]`, into)
  else if (typeof value === 'object' && value !== null)
    for (const [name, held] of Object.entries(value)) gather(held, path === '' ? name : `${path}.${name}`, into)
}

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value)
