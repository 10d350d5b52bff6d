import { fieldOf } from '../../domain/raw-values.ts'
import { textAt } from '../body.ts'
import type { Door } from '../context.ts'

/** Every change of every profile comes here; only who left, or is back, matters. An event may be lost. Never throws. */
export async function hearOfAccount({ operations, log }: Door, body: unknown): Promise<void> {
  const user = textAt(body, 'event', 'user', 'id')
  const isDeactivated = fieldOf(fieldOf(fieldOf(body, 'event'), 'user'), 'deleted')
  if (user === null || typeof isDeactivated !== 'boolean') return
  try {
    await operations.people.accountChanged(user, isDeactivated)
  } catch (error) {
    log.warn(
      { err: error, user },
      'what Slack tells of an account could not be written down; it is looked up within a day',
    )
  }
}
