import type { App, Context } from '@slack/bolt'
import { invariant } from '../lib/assert.ts'
import { answerAction } from './actions.ts'
import { answerSlash } from './slash.ts'
import type { Door } from './context.ts'
import { hearOfAccount } from './people/account-event.ts'
import { answerHomeOpened } from './home/event.ts'
import { answerMention, isByBot } from './mention.ts'
import { CHANNEL_EVENTS, hearOfChannel, isChannelEvent } from './subscriptions/channel-event.ts'
import { answerShortcut } from './shortcuts.ts'
import { receiveForm } from './forms.ts'
import { suggestionsFor } from './suggest.ts'

const channelEvents = Object.keys(CHANNEL_EVENTS).filter(isChannelEvent)

/** The events that we are told of; the manifest asks Slack for them. */
export const EVENTS = ['app_mention', ...channelEvents, 'user_change', 'app_home_opened'] as const

/**
 * Everything that Slack can send us, by kind: what nobody knows is answered too. Each is acknowledged before anything
 * else, for Slack waits three seconds, and what it asks is on disk by then (`receive`); only a menu's options are the
 * acknowledgement themselves.
 */
export function registerListeners(app: App): void {
  app.command(/^/, async ({ ack, body, context }) => {
    await ack()
    await answerSlash(doorIn(context), body)
  })
  app.action({ type: 'block_actions' }, async ({ ack, body, context }) => {
    await ack()
    await answerAction(doorIn(context), body)
  })
  app.options<'block_suggestion'>({ type: 'block_suggestion' }, async ({ ack, body, context }) => {
    await ack(await suggestionsFor(doorIn(context), body))
  })
  app.shortcut({}, async ({ ack, body, context }) => {
    await ack()
    await answerShortcut(doorIn(context), body)
  })
  app.view({ type: 'view_submission' }, async ({ ack, body, context }) => {
    const { ack: answer, work } = receiveForm(body)
    await (answer === null ? ack() : ack(answer))
    await work?.(doorIn(context))
  })
  app.view({ type: 'view_closed' }, async ({ ack }) => ack())
  app.event('app_mention', async ({ body, context }) => {
    if (!isByBot(body)) await answerMention(doorIn(context), body)
  })
  for (const type of channelEvents)
    app.event(type, async ({ body, context }) => {
      await hearOfChannel(doorIn(context), type, body)
    })
  app.event('app_home_opened', async ({ body, context }) => {
    await answerHomeOpened(doorIn(context), body)
  })
  app.event('user_change', async ({ body, context }) => {
    await hearOfAccount(doorIn(context), body)
  })
}

/** The door as this one ask has it: what Bolt carries from the receiver to the listener. */
export const withDoor = (door: Door): { door: Door } => ({ door })

function doorIn(context: Context): Door {
  const { door }: { [name: string]: unknown; door?: Door } = context
  invariant(door, 'every request carries its door')
  return door
}
