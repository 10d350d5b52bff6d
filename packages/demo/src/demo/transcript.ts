import { seenText } from '../../../sandbox-slack/page/slack/mrkdwn.ts'
import type { SandboxSlack } from '../../../sandbox-slack/src/sandbox-slack.ts'

/** A channel as people read it: its name, what everybody sees, and then what single people alone saw. Times are UTC. */
export function transcriptOf(slack: SandboxSlack, channelId: string): string {
  const { channels, users } = slack.workspace
  const alone = slack
    .ephemerals(channelId)
    .map(({ userId, message }) => `only visible to ${users.get(userId)?.realName}: ${indented(message.text)}`)
  const said = [slack.transcript(channelId), ...alone].join('\n')
  const names = {
    users: Object.fromEntries([...users].map(([id, { realName }]) => [id, realName])),
    channels: Object.fromEntries([...channels].map(([id, { name }]) => [id, name])),
  }
  return [`#${channels.get(channelId)?.name}`, seenText(inUtc(said), names).replaceAll(INVISIBLE, '')].join('\n')
}

const indented = (text: string): string => text.replaceAll('\n', '\n    ')

/** What a date falls back to: the machine's own zone would differ from the times of the messages. */
const inUtc = (text: string): string => text.replaceAll(/<!date\^[^|<>]*\|([^<>]*)>/g, '$1')

/** The soft hyphens and isolates that keep outside text harmless: some terminals draw them. */
const INVISIBLE = /[\u00ad\u2068\u2069]/g
