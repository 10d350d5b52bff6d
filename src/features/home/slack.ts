import { requesterOf, textAt } from '../body.ts'
import type { SlackDeps } from '../context.ts'
import type { Feature } from '../feature.ts'

export const home: Feature = { events: { app_home_opened: answerHomeOpened } }

/** Draws a person's Home when they open it. Ignores the app's other tabs. */
async function answerHomeOpened({ homes }: Pick<SlackDeps, 'homes'>, body: unknown): Promise<void> {
  const tab = textAt(body, 'event', 'tab')
  const { user, team } = requesterOf(body, 'mention')
  if (user === '' || (tab !== null && tab !== 'home')) return
  await homes.open(user, team)
}
