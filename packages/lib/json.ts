/** JSON text in which big integers stay integers: `toJson({ id: bigInteger('1152921504606847488') })`. */
export const toJson = (value: unknown): string => JSON.stringify(value)

// The engine has it; the language's own types do not name it yet.
declare global {
  interface JSON {
    rawJSON(text: string): unknown
  }
}

/** A value that `toJson` writes as these digits, whatever their number. Doubles would round them beyond 2^53. */
export const bigInteger = (digits: string): unknown => JSON.rawJSON(digits)

/** The JSON in `text`, or what is wrong with it. */
export function parseJson(text: string): { kind: 'json'; value: unknown } | { kind: 'not-json' } {
  try {
    return { kind: 'json', value: JSON.parse(text) as unknown }
  } catch {
    return { kind: 'not-json' }
  }
}
