import { parseJson } from '../lib/json.ts'

/** Reads a delivery's body as text and JSON, or says why that failed. The reason quotes nothing of the body. */
export function readJsonBody(
  body: Uint8Array,
): { kind: 'json'; text: string; value: unknown } | { kind: 'refusal'; reason: string } {
  const text = decode(body)
  if (text === null) return { kind: 'refusal', reason: 'the body is not UTF-8 text' }
  try {
    return { kind: 'json', text, value: parseJson(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text) }
  } catch (error) {
    return { kind: 'refusal', reason: error instanceof Error ? error.message : 'the text is not JSON' }
  }
}

function decode(body: Uint8Array): string | null {
  try {
    return UTF8.decode(body)
  } catch {
    return null
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const BYTE_ORDER_MARK = '\uFEFF'
