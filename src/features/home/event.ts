import { askerOf, textAt } from '../body.ts'
import type { Door } from '../context.ts'

/** Somebody looks at their Home: it is drawn, and kept up to date for a while. The other tabs of the app are not ours. */
export async function answerHomeOpened({ homes }: Pick<Door, 'homes'>, body: unknown): Promise<void> {
  const tab = textAt(body, 'event', 'tab')
  const { user, team } = askerOf(body, 'mention')
  if (user === '' || (tab !== null && tab !== 'home')) return
  await homes.open(user, team)
}
