export type Json = Record<string, unknown>

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value if it is an object, else an empty one. */
export const objectOf = (value: unknown): Json => (isJson(value) ? value : {})

/** The objects of a list; nothing of anything else. */
export const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : [])
