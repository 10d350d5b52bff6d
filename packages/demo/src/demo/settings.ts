import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SandboxCi } from '../../../sandbox-ci/src/server.ts'
import { botSettings } from '../../../sandbox-ci/src/settings.ts'
import type { Switches } from '../../../sandbox-ci/src/switches.ts'
import type { SandboxSlack } from '../../../sandbox-slack/src/sandbox-slack.ts'
import { CHANNELS } from '../../../sandbox-slack/src/workspace.ts'

export const WEBHOOK_SECRET = 'demo-webhook-secret'

/** This CI repeats a delivery that was not taken, for about a minute: the bot may be killed and come back meanwhile. */
export const REDELIVERY: Partial<Switches> = { deliveryRetriesMax: 8, deliveryRetryMs: 250 }

// #builds sees everything; #web hears only when main of acme/web breaks or mends.
const SUBSCRIPTIONS = `subscriptions:
  - { channel: ${CHANNELS.builds}, project: all }
  - { channel: ${CHANNELS.web}, project: acme/web, branch: main, events: [failed, recovered] }
`

/** Empties the folder, which takes a new database, and answers the environment of a bot between these two. */
export function prepare(folder: string, ci: SandboxCi, slack: SandboxSlack): Record<string, string> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const [database, subscriptions] = [join(folder, 'buildline.db'), join(folder, 'subscriptions.yaml')]
  writeFileSync(subscriptions, SUBSCRIPTIONS)
  return {
    SLACK_API_URL: slack.apiUrl,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_SIGNING_SECRET: slack.signingSecret,
    ...botSettings(ci),
    WEBHOOK_SECRET,
    HOST: '127.0.0.1',
    DATABASE_URL: `sqlite:${database}`,
    SUBSCRIPTIONS_FILE: subscriptions,
  }
}
