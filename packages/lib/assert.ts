/** Marks a place that the types say cannot be reached; a new union member then fails to compile right there. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`)
}

/** A promise the code itself keeps; a failure is a defect here, never a user's mistake. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${message}`)
}
