import { escapePlain, toLine } from '../lib/escape.ts'
import { plain, type Button } from '../slack/messages/blocks.ts'
import { CHOICE_ACTION_IDS, CHOICES_BLOCK_ID } from '../slack/messages/ids.ts'
import { cut } from '../slack/messages/limits.ts'
import type { BuildSummary } from '../catalog/outcomes.ts'
import { row, type AskedWith, type Part } from '../slack/messages/answer.ts'
import { choiceValue, type Choice } from './values.ts'

/** The most that one answer offers. */
export const CHOICES_MAX = CHOICE_ACTION_IDS.length

/** Text of the button, in characters. */
const LABEL_CHARS_MAX = 60

/** What a button asks for, and what stands on it. */
export interface Labelled {
  choice: Choice
  label: string
}

export const projectChoice = ({ command, branch, rest }: AskedWith, project: string, label: string): Labelled => ({
  choice: { kind: 'project', command, project, branch, ...(rest && { rest }) },
  label,
})

export const buildChoice = ({ command }: AskedWith, { ref, project, buildId }: BuildSummary): Labelled => ({
  choice: { kind: 'run', command, ref },
  label: `#${buildId} ${project}`,
})

/** A row of buttons; none where one of them could not carry its choice, for what is missing would not be missed. */
export function choices(labelled: readonly Labelled[]): Part[] {
  const buttons = labelled.flatMap(({ choice, label }, at) => buttonOf(choice, label, at, labelled.length > 1))
  return buttons.length === 0 || buttons.length < labelled.length ? [] : [row(CHOICES_BLOCK_ID, buttons)]
}

function buttonOf(choice: Choice, label: string, at: number, isNumbered: boolean): Button[] {
  const value = choiceValue(choice)
  const id = CHOICE_ACTION_IDS[at]
  if (value === null || id === undefined) return []
  const name = cut(toLine(label), LABEL_CHARS_MAX)
  const text = plain(escapePlain(isNumbered ? `${at + 1}. ${name}` : name) || '(no name)')
  return [{ type: 'button', action_id: id, text, value }]
}
