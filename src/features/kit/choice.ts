import { CHOICE_ACTION_IDS, CHOICES_BLOCK_ID } from '../../slack/messages/ids.ts'
import { choiceValue, type Choice } from './values.ts'
import { escapePlain, toLine } from '../../lib/escape.ts'
import { plain, type ActionButton } from '../../slack/messages/blocks.ts'
import { cut } from '../../slack/messages/limits.ts'
import type { BuildSummary } from '../../projects/outcomes.ts'
import { row, type AnswerContext, type Part } from '../../slack/messages/answer.ts'

/** The longest text on a button, in characters. */
const LABEL_CHARS_MAX = 60

/** What a button requests, and its text. */
interface Labelled {
  choice: Choice
  label: string
}

export const projectChoice = (
  { command, branch = null, rest }: AnswerContext,
  project: string,
  label: string,
): Labelled => ({
  choice: { kind: 'project', command, project, branch, ...(rest && { rest }) },
  label,
})

export const buildChoice = ({ command }: AnswerContext, { ref, project, buildId }: BuildSummary): Labelled => ({
  choice: { kind: 'run', command, ref },
  label: `#${buildId} ${project}`,
})

/** A row of buttons; empty if one of the choices does not fit into a button, since nobody would notice its absence. */
export function choices(labelled: readonly Labelled[]): Part[] {
  const buttons = labelled.flatMap(({ choice, label }, at) => buttonOf(choice, label, at, labelled.length > 1))
  return buttons.length === 0 || buttons.length < labelled.length ? [] : [row(CHOICES_BLOCK_ID, buttons)]
}

function buttonOf(choice: Choice, label: string, at: number, isNumbered: boolean): ActionButton[] {
  const value = choiceValue(choice)
  const id = CHOICE_ACTION_IDS[at]
  if (value === null || id === undefined) return []
  const name = cut(toLine(label), LABEL_CHARS_MAX)
  const text = plain(escapePlain(isNumbered ? `${at + 1}. ${name}` : name) || '(no name)')
  return [{ type: 'button', action_id: id, text, value }]
}
