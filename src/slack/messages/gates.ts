import type { Gate } from '../../domain/builds/build-event.ts'
import { joined, outside } from './build.ts'
import { GATE_CHARS_MAX } from './limits.ts'
import { timeIn } from './times.ts'

// What a waiting build waits for, in words. Names are outside text.

const GATES_SHOWN = 3
const REVIEWERS_SHOWN = 5

/** `waits for production: @ada or team/ops`, as a card and its form say it; null without gates. Markup. */
export function gatesLine(gates: readonly Gate[], shownAt: number | null): string | null {
  if (gates.length === 0) return null
  if (gates.some(({ kind }) => kind === 'run')) return "waits for a maintainer to let this contributor's run begin"
  const more = gates.length - GATES_SHOWN
  const words = gates.slice(0, GATES_SHOWN).map((gate) => gateWords(gate, shownAt))
  return `waits for ${joined([...words, more > 0 ? `${more} more` : null], ', ')}`
}

function gateWords({ name, reviewers, until }: Gate, shownAt: number | null): string {
  const named = reviewers.slice(0, REVIEWERS_SHOWN).map((one) => outside(one, GATE_CHARS_MAX))
  const more = reviewers.length - named.length
  const who = [...named, ...(more > 0 ? [`${more} more`] : [])].join(' or ')
  const time = until === null ? null : timeIn(until, shownAt)
  const timer = time === null ? '' : ` (timer until ${time})`
  return `${outside(name, GATE_CHARS_MAX)}${who === '' ? '' : `: ${who}`}${timer}`
}
