/** Marks a place that the types say cannot be reached; a new union member then fails to compile right there. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`)
}
