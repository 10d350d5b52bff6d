/** Marks code that the types say is unreachable, so that a new member of a union fails to compile right here. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`)
}

/** Throws unless a condition holds that the code itself guarantees. A failure is a bug here, not bad input. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${message}`)
}
