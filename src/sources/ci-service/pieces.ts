/** So much of a secret, in one piece, is hidden even where the rest of it is not there. */
export const PIECE_CHARS_MIN = 8

/** A text in which `mark` stands for all that it shares with a secret: CI may quote a part, or cut its words within it. */
export function hidePieces(text: string, secrets: readonly string[], mark: string): string {
  const shared = sharedPieces(new Set(piecesOf(text)), secrets)
  if (shared.size === 0) return text
  const hidden = new Set<number>()
  for (const [at, piece] of piecesOf(text).entries()) {
    if (shared.has(piece)) for (let more = 0; more < PIECE_CHARS_MIN; more++) hidden.add(at + more)
  }
  const shown = (unit: string, at: number) => (hidden.has(at) ? (hidden.has(at - 1) ? '' : mark) : unit)
  return text.split('').map(shown).join('')
}

function sharedPieces(pieces: ReadonlySet<string>, secrets: readonly string[]): Set<string> {
  const shared = new Set<string>()
  if (pieces.size === 0) return shared
  for (const secret of secrets) for (const piece of piecesOf(secret)) if (pieces.has(piece)) shared.add(piece)
  return shared
}

const piecesOf = (text: string): string[] =>
  Array.from({ length: Math.max(0, text.length - PIECE_CHARS_MIN + 1) }, (_, at) =>
    text.slice(at, at + PIECE_CHARS_MIN),
  )
