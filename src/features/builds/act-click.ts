import { parseRunRef, type Action } from '../../domain/request.ts'
import { answerAct } from './act-messages.ts'
import { outcomeName } from '../command.ts'
import type { Reply } from '../context.ts'
import type { Click } from '../click.ts'

export const stopRun = (click: Click): Promise<Reply | null> => act('stop', click)
export const restartRun = (click: Click): Promise<Reply | null> => act('restart', click)

/** The button of a build. What the card said when it was drawn counts for nothing: the operation looks at it now. */
async function act(action: Action, { door, value, by, reference }: Click): Promise<Reply | null> {
  const ref = parseRunRef(value)
  if (!ref) return null
  const outcome = await door.operations[action]({ kind: 'run', ref }, by)
  return { outcome: outcomeName(outcome), answer: answerAct(outcome, { command: action, branch: null, reference }) }
}
