// Finds secrets in texts of builds by their form. What a build step sends is masked there, and again here.

/** A part of a text: [from, to), in UTF-16 units. */
export type Range = [from: number, to: number]

/** Patterns of secrets. They also match the beginning of one that was cut off. */
const SHAPES = [
  /gh[pousr]_\w{4,}|github_pat_\w{4,}|gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas)-[\w-]{4,}|xox[a-z]-[\w-]{4,}|xapp-[\w-]{4,}/g,
  /(?:AKIA|ASIA)[A-Z0-9]{6,}|AIza[\w-]{20,}|(?:npm|hf)_\w{20,}|(?<![a-z])(?:sk|rk)[-_][\w-]{12,}/g,
  /eyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g,
  // The secret with which the jobs of one repository report.
  /(?:github|gitlab):\d+\.[0-9a-f]{8,}/g,
  /(?<=authorization(?:\\?["']|%22)?\s{0,9}(?:[:=]|%3A)[\s+]{0,9})(?:\\?["'])?[^"'\\\r\n]+/gi,
  /(?<=\bbearer(?:[\s+]|%20){1,9})[\w.~+/=-]{8,}/gi,
  // User and password in a URL.
  /(?<=:\/\/)(?:[^\s/?#"'<>@]{1,400}|[^\s/?#"'<>@:]{1,200}:(?!\d+[/?#])[^\s"'<>@]{1,400})(?=@)/g,
  /(?<=%3A%2F%2F)[^\s&"'<>@]{1,400}?(?=%40)/gi,
]

/** The beginning of every shape, so that most texts are searched once. A new shape needs its beginning here. */
const BEGINNINGS =
  /gh[pousr]_|github_pat_|gl\w{2,5}-|xox|xapp-|A[KS]IA|AIza|npm_|hf_|[sr]k[-_]|eyJ|git(?:hub|lab):\d|authorization|bearer|:\/\/|%3A%2F%2F/i

/** The text with `***` for each secret. */
export const maskSecrets = (text: string): string => hideRanges(text, secretsIn(text))

/** Where the secrets are. The ranges may overlap. */
export const secretsIn = (text: string): Range[] => [...shapesIn(text), ...privateKeysIn(text), ...base64In(text)]

const shapesIn = (text: string): Range[] =>
  BEGINNINGS.test(text) ? SHAPES.flatMap((shape) => rangesOf(text, shape)) : []

const rangesOf = (text: string, pattern: RegExp): Range[] =>
  Array.from(text.matchAll(pattern), ({ 0: found, index }): Range => [index, index + found.length])

/** Private keys in PEM, also without their beginning or end. */
function privateKeysIn(text: string): Range[] {
  if (!text.includes('-----')) return []
  const ranges: Range[] = []
  let before: { from: number; isKey: boolean | null } = { from: 0, isKey: null }
  for (const { 0: marker, 1: edge, index } of text.matchAll(/-----(BEGIN|END)([^-]{0,80})-----/g)) {
    const isBegin = edge === 'BEGIN'
    const end = index + marker.length
    const isKey = marker.includes('PRIVATE')
    if (before.isKey ?? (isKey && !isBegin)) ranges.push([before.from, isBegin ? index : end])
    before = isBegin ? { from: index, isKey } : { from: end, isKey: null }
  }
  if (before.isKey) ranges.push([before.from, text.length])
  return ranges
}

/**
 * Eight characters of base64 that decode to six bytes of ASCII (each byte's first bit is 0). A secret has at least eight
 * bytes, and other text seldom has this form, so little is decoded in vain.
 */
const ASCII_IN_BASE64 = /(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][\w+/-]){2}/

/** Base64 of a text with a secret's shape. */
function base64In(text: string): Range[] {
  if (!ASCII_IN_BASE64.test(text)) return []
  return rangesOf(text, /[\w+/-]{16,}={0,2}/g).filter(([from, to]) =>
    [0, 1, 2, 3].some(
      (skipped) => shapesIn(Buffer.from(text.slice(from + skipped, to), 'base64').toString('latin1')).length > 0,
    ),
  )
}

/** The text with `***` for each range, or for ranges that touch. */
export function hideRanges(text: string, ranges: readonly Range[]): string {
  let [shown, end] = ['', 0]
  // Not `toSorted`: build steps run on Node 18.
  for (const [from, to] of [...ranges].sort(([one], [other]) => one - other)) {
    if (from > end || (from === end && end === 0)) shown += `${text.slice(end, from)}***`
    end = Math.max(end, to)
  }
  return shown + text.slice(end)
}
