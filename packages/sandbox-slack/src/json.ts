export type Json = Record<string, unknown>

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value if it is an object, else an empty one. */
export const objectOf = (value: unknown): Json => (isJson(value) ? value : {})

/** The objects in a list; empty if the value is not a list. */
export const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : [])
