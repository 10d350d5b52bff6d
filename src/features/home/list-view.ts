import { COUNTED_MAX, type Some } from './outcomes.ts'
import { line, type Part } from '../../slack/messages/answer.ts'

/** The first of a list, and a line that says how many are left out. */
export function listed<One>({ shown, more }: Some<One>, max: number, draw: (one: One) => Part): Part[] {
  const parts = shown.slice(0, max).map(draw)
  const left = more + shown.length - parts.length
  if (left === 0) return parts
  const isCounted = shown.length + more < COUNTED_MAX
  return [...parts, line(isCounted ? `… and ${left} more` : `… and ${left} more, or even more`)]
}
