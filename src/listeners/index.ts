import type { App } from '@slack/bolt'
import { answerAction } from './actions/index.ts'
import { textAt } from './body.ts'
import { answerSlash } from './commands/slash.ts'
import type { Door } from './door.ts'
import { answerMention, isByBot } from './events/app-mention.ts'
import { createRecent } from './events/recent.ts'
import { answerShortcut } from './shortcuts/index.ts'
import { suggestionsFor } from './views/suggest.ts'

/** The events that we are told of; the manifest asks Slack for them. */
export const EVENTS = ['app_mention'] as const

/**
 * Everything that Slack can send us, by kind: what nobody knows is answered too. Each is acknowledged before anything
 * else, for Slack waits three seconds; only a menu's options are the acknowledgement themselves.
 */
export function registerListeners(app: App, door: Door): void {
  const recent = createRecent()
  app.command(/^/, async ({ ack, body }) => {
    await ack()
    await answerSlash(door, body)
  })
  app.action({ type: 'block_actions' }, async ({ ack, body }) => {
    await ack()
    await answerAction(door, body)
  })
  app.options<'block_suggestion'>({ type: 'block_suggestion' }, async ({ ack, body }) => {
    await ack(await suggestionsFor(door, body))
  })
  app.shortcut({}, async ({ ack, body }) => {
    await ack()
    await answerShortcut(door, body)
  })
  // Nothing is sent in by a form: whoever presses Enter in one that an older version drew sees it close.
  app.view({ type: 'view_submission' }, async ({ ack }) => ack())
  app.view({ type: 'view_closed' }, async ({ ack }) => ack())
  app.event(EVENTS[0], async ({ body }) => {
    const eventId = textAt(body, 'event_id')
    if (isByBot(body) || (eventId !== null && !recent.isNew(eventId))) return
    await answerMention(door, body)
  })
}
