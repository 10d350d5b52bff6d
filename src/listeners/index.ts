import type { App } from '@slack/bolt'
import type { Log } from '../lib/log.ts'
import { ACTION_IDS } from '../notify/slack/ids.ts'

/** Everything that Slack can send us, by kind. Each is acknowledged first: Slack waits three seconds. */
export function registerListeners(app: App, log: Log): void {
  // A link button opens its address by itself; Slack still tells us, and shows a warning if nobody answers.
  app.action(ACTION_IDS.open, ({ ack }) => ack())
  app.error(async (error) => log.error({ err: error }, 'a request from Slack could not be handled'))
}
