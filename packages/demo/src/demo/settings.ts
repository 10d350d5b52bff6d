import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { emptyFolder } from '../../../lib/program.ts'
import type { SandboxSlack } from '../../../sandbox-slack/src/sandbox-slack.ts'
import { CHANNELS } from '../../../sandbox-slack/src/workspace.ts'
import type { Service, Story } from '../service/service.ts'

// #builds sees everything; #web hears only when main of acme/web breaks or mends.
const subscriptions = ({ everything }: Story) => `subscriptions:
  - { channel: ${CHANNELS.builds}, project: all${everything} }
  - { channel: ${CHANNELS.web}, project: acme/web, branch: main, events: [failed, recovered] }
`

/** The file of the bot's log, in the folder of a demo. */
export const LOG = 'bot.log'

/** Empties the folder, which takes a new database, and answers the environment of a bot between these two. */
export function prepare(folder: string, ci: Service, slack: SandboxSlack): Record<string, string> {
  emptyFolder(folder, LOG)
  const [database, file] = [join(folder, 'buildline.db'), join(folder, 'subscriptions.yaml')]
  writeFileSync(file, subscriptions(ci.story))
  return {
    SLACK_API_URL: slack.apiUrl,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_SIGNING_SECRET: slack.signingSecret,
    ...ci.settings(),
    HOST: '127.0.0.1',
    DATABASE_URL: `sqlite:${database}`,
    SUBSCRIPTIONS_FILE: file,
  }
}
