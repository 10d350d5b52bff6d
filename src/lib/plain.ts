/**
 * A text with the letters of a plain keyboard in place of what phones, word processors and input methods make of them:
 * apostrophes and quotes of every kind, dashes (`—` is two), spaces, and full-width forms.
 */
export const plain = (text: string): string =>
  text.replace(OTHER, (letter) => {
    const place = KINDS.findIndex(([kind]) => kind.test(letter))
    return place < 0 ? String.fromCharCode(letter.charCodeAt(0) - FULL_WIDTH) : KINDS[place]![1]
  })

/** A name in one form: plain, with single blanks, and without blanks and punctuation at its end. */
export function plainName(text: string): string {
  const name = plain(text).replaceAll(/ +/g, ' ').trim()
  let end = name.length
  while (end > 1 && /[\s.,;:…!?]/u.test(name[end - 1]!)) end -= 1
  return name.slice(0, end)
}

const KINDS = [
  [/[‘’‚‛ʼ′‵´]/u, "'"],
  [/[“”„‟«»″‶＂]/u, '"'],
  [/—/u, '--'],
  [/[‐‑‒–―−﹘﹣]/u, '-'],
  [/\s/u, ' '],
] as const

/** U+FF01 to U+FF5E repeat ASCII. */
const FULL_WIDTH = 0xfe_e0
const OTHER = /[‘’‚‛ʼ′‵´“”„‟«»″‶—‐‑‒–―−﹘﹣\uff01-\uff5e]|[^\S \n\r\t\u2028\u2029]/gu
