import type { Difference } from '../../domain/project-differences.ts'
import { MASK } from '../../domain/secret-fields.ts'
import { line, type Part } from '../../slack/messages/answer.ts'
import { command, fieldWords } from './words.ts'

/** So many differences are shown, and of each side so many lines. */
export const DIFFERENCES_MAX = 20
export const LINES_MAX = 10

/** What changes, each with what goes and what comes. Secrets are only said to be others. */
export function differenceParts(differences: readonly Difference[]): Part[] {
  const left = differences.length - DIFFERENCES_MAX
  const shown = differences.slice(0, DIFFERENCES_MAX).flatMap(partsOf)
  return left > 0 ? [...shown, line(`… and ${left} more`)] : shown
}

const partsOf = ({ field, before, after, isSecret }: Difference): Part[] => [
  line(`*${fieldWords(field)}*${isSecret ? ` ${secretWords(before, after)}` : ''}`),
  ...(isSecret ? [] : [...linesOf('before', before), ...linesOf('after', after)].map(line)),
]

function secretWords(before: string | null, after: string | null): string {
  if (before === null) return `set to ${MASK}`
  return after === null ? `${MASK} removed` : `${MASK} becomes another ${MASK}`
}

const SIGNS = { before: ':heavy_minus_sign:', after: ':heavy_plus_sign:' } as const

function linesOf(side: 'before' | 'after', text: string | null): string[] {
  if (text === null) return []
  const lines = text.split('\n')
  const left = lines.length - LINES_MAX
  const shown = lines.slice(0, LINES_MAX).map((one) => `${SIGNS[side]} ${command(one)}`)
  return left > 0 ? [...shown, `${SIGNS[side]} … and ${left} more`] : shown
}
