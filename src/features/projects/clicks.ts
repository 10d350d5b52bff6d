import { isUuid } from '../../domain/ids.ts'
import { openProjectForm, type OpeningVerb } from './opening.ts'
import type { Reply } from '../context.ts'
import type { Click } from '../click.ts'

export const editProject = (click: Click): Promise<Reply | null> => openFor('edit', click)
export const resetProjectKey = (click: Click): Promise<Reply | null> => openFor('reset-aes-key', click)

/** The button of a project that is shown. */
async function openFor(verb: OpeningVerb, { door, value, by, opener, reference }: Click): Promise<Reply | null> {
  if (!isUuid(value)) return null
  return openProjectForm({ operations: door.operations, by, opener, reference }, verb, value)
}
