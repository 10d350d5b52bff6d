import type { SandboxSlack } from '../../sandbox/slack/sandbox-slack.ts'

/** A channel as text: its name, what everybody sees, and then what single people alone saw. */
export function transcriptOf(slack: SandboxSlack, channelId: string): string {
  const { channels, users } = slack.workspace
  const alone = slack
    .ephemerals(channelId)
    .map(({ userId, message }) => `only visible to ${users.get(userId)?.realName}: ${indented(message.text)}`)
  return [`#${channels.get(channelId)?.name}`, slack.transcript(channelId), ...alone].join('\n')
}

const indented = (text: string): string => text.replaceAll('\n', '\n    ')
