import { parsePage } from '../answers/values.ts'
import { listPage } from '../commands/list.ts'
import { questionAbout } from '../commands/run.ts'
import type { Reply } from '../door.ts'
import type { Click } from './click.ts'

/** Prev and Next carry the whole question: they work on lists of yesterday. */
export async function turnPage({ door, value, by, opener, reference }: Click): Promise<Reply | null> {
  const page = parsePage(value)
  return page && listPage(questionAbout(door, 'list', { by, thread: null, opener, reference }), page)
}
