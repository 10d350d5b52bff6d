import { parsePage } from '../values.ts'
import { listPage } from './slack.ts'
import { questionAbout } from '../run.ts'
import type { Reply } from '../context.ts'
import type { Click } from '../click.ts'

/** Prev and Next carry the whole question: they work on lists of yesterday. */
export async function turnPage({ door, value, by, opener, reference }: Click): Promise<Reply | null> {
  const page = parsePage(value)
  return page && listPage(questionAbout(door, 'list', { by, thread: null, opener, reference }), page)
}
