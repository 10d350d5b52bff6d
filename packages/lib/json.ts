/** Writes JSON. Big integers keep all their digits: `toJson({ id: bigInteger('1152921504606847488') })`. */
export const toJson = (value: unknown): string => JSON.stringify(value)

// Node has it, but TypeScript's types do not declare it yet.
declare global {
  interface JSON {
    rawJSON(text: string): unknown
  }
}

/** A value that `toJson` writes as exactly these digits. A number would be rounded beyond 2^53. */
export const bigInteger = (digits: string): unknown => JSON.rawJSON(digits)

/** Parses `text`; `not-json` if it is not JSON. */
export function parseJson(text: string): { kind: 'json'; value: unknown } | { kind: 'not-json' } {
  try {
    return { kind: 'json', value: JSON.parse(text) as unknown }
  } catch {
    return { kind: 'not-json' }
  }
}
