const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text, with a byte order mark if it begins with one; null if it is no UTF-8. */
export function utf8Of(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes)
  } catch {
    return null
  }
}
