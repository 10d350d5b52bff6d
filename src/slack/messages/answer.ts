import { codeSpan, toLine } from '../../lib/escape.ts'
import { type Block, type Button, contextOf, mrkdwn, section } from './blocks.ts'
import { cut, SECTION_CHARS_MAX, MESSAGE_TEXT_CHARS_MAX } from './limits.ts'

/** What the requester sees. Whether others see it too depends on where it is shown. */
export interface Answer {
  /** markup; complete without the blocks, for screen readers and places that show no blocks */
  text: string
  blocks: Block[]
  picture: Picture | null
}

/** A picture that may go with the answer, where it can be shown. */
export interface Picture {
  png: Uint8Array
  /** a file's name, without a path */
  name: string
  /** alternative text, for people who do not see it */
  alt: string
}

/** What an answer needs from its request: a choice repeats the command, an error shows the reference. */
export interface AnswerContext {
  /** the command's name */
  command: string
  /** the branch that was named, for a choice of projects */
  branch?: string | null
  /** the words after the project, if they are more than a branch */
  rest?: readonly string[]
  /** a short id that is also in the log */
  reference: string
}

/** One piece of an answer. All texts are markup, in which outside text is escaped and cut. */
export type Part =
  /** lines share a section as far as they fit; a line with a button has its own */
  | { kind: 'line'; text: string; button?: Button }
  | { kind: 'small'; text: string }
  | { kind: 'row'; id: string; buttons: readonly Button[] }

export const line = (text: string): Part => ({ kind: 'line', text })
export const small = (text: string): Part => ({ kind: 'small', text })
export const row = (id: string, buttons: readonly Button[]): Part => ({ kind: 'row', id, buttons })

/** Builds an answer from these parts. Empty parts are left out. */
export function answerOf(parts: readonly Part[], picture: Picture | null = null): Answer {
  const filled = parts.filter(saysSomething)
  return { text: plainTextOf(filled), blocks: blocksOf(filled), picture }
}

/** An error: what happened, why if that is known (or the choices), and one next step. Lines of markup. */
export interface ErrorAnswer {
  what: string
  why: string | readonly string[] | null
  next: string
  /** parts between the next step and the reference */
  parts?: readonly Part[]
}

/**
 * The answer to a request that failed.
 * @param reference an id that is also in the log; null if nobody needs the log for this
 */
export function answerError({ what, why, next, parts = [] }: ErrorAnswer, reference: string | null = null): Answer {
  const lines = [what, ...[why ?? []].flat(), nextStep(next)].map(line)
  const known = reference === null ? [] : [small(`Reference: ${codeSpan(cut(reference, REFERENCE_CHARS_MAX))}`)]
  return answerOf([...lines, ...parts, ...known])
}

/** `*Next:* type …`. Every error has exactly one. */
export const nextStep = (text: string): string => `*Next:* ${text}`

const REFERENCE_CHARS_MAX = 40

const saysSomething = (part: Part): boolean => (part.kind === 'row' ? part.buttons.length > 0 : part.text !== '')

function plainTextOf(parts: readonly Part[]): string {
  const lines = parts.flatMap((part) => (part.kind === 'row' ? [] : [part.text]))
  const whole = lines.join('\n')
  if (whole.length <= MESSAGE_TEXT_CHARS_MAX) return whole
  return firstOf(lines.map(withoutLinks))
}

// Outside text is escaped and contains no `<`, so each link found here is one of ours.
const withoutLinks = (text: string): string => text.replaceAll(/<https?:[^|<>]*\|([^<>]*)>/g, '$1')

/** As many whole lines as fit, and how many are left out. Lines are not cut: that could break a mention. */
function firstOf(lines: readonly string[]): string {
  let text = ''
  for (const [at, one] of lines.entries()) {
    const longer = at === 0 ? one : `${text}\n${one}`
    if (longer.length + MORE_CHARS_MAX > MESSAGE_TEXT_CHARS_MAX)
      return `${text}\n… lines left out: ${lines.length - at}`
    text = longer
  }
  return text
}

const MORE_CHARS_MAX = 30

function blocksOf(parts: readonly Part[]): Block[] {
  const blocks: Block[] = []
  let open = ''
  const close = () => {
    if (open !== '') blocks.push(section(open))
    open = ''
  }
  for (const part of parts) {
    const longer = part.kind === 'line' && !part.button ? [open, part.text].filter(Boolean).join('\n') : null
    if (longer === null || longer.length > SECTION_CHARS_MAX) close()
    if (longer === null) blocks.push(...blocksOfOne(part))
    else open = open === '' && part.kind === 'line' ? part.text : longer
  }
  close()
  return blocks
}

function blocksOfOne(part: Part): Block[] {
  switch (part.kind) {
    case 'line':
      return [{ ...section(part.text), ...(part.button && { accessory: part.button }) }]
    case 'small':
      return contextOf([mrkdwn(part.text)])
    case 'row':
      return [{ type: 'actions', block_id: part.id, elements: [...part.buttons] }]
  }
}

/** Shows typed text as code, in which Slack reads no markup. */
export const typed = (text: string): string => codeSpan(cut(toLine(text), TYPED_CHARS_MAX)) || '(nothing)'

/** How much of it is shown, in code points. */
export const TYPED_CHARS_MAX = 150
