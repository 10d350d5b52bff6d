import type { SandboxSlack } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { listOf } from '../../packages/sandbox-slack/src/json.ts'
import { drawnText } from '../../packages/sandbox-slack/src/transcript.ts'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'
import { until } from '../support/app.ts'

export const { builds: BUILDS, web: WEB, ops: OPS, archived: ARCHIVED } = CHANNELS

export interface Said {
  ts: string
  text: string
  replies: { text: string; isBroadcast: boolean }[]
}

/** The bot's cards in a channel, oldest first, each with its thread. */
export function saidIn(slack: SandboxSlack, channel: string): Said[] {
  const messages = slack.messages(channel)
  const isReply = (message: Record<string, unknown>) => 'thread_ts' in message && message['thread_ts'] !== message['ts']
  return messages
    .filter((message) => 'bot_id' in message && !isReply(message))
    .map(({ ts, text, blocks }) => ({
      ts: String(ts),
      text: drawnText({ text: String(text), blocks: listOf(blocks) }),
      replies: messages
        .filter((message) => message['thread_ts'] === ts && isReply(message))
        .map((reply) => ({ text: String(reply['text']), isBroadcast: reply['subtype'] === 'thread_broadcast' })),
    }))
}

/** The first words of each card: `Failed acme/web #512`. */
export const headlines = (slack: SandboxSlack, channel: string): string[] =>
  saidIn(slack, channel).map(({ text }) => headline(text))

/** `Failed acme/web #512` of `:x: *Failed* acme/web #512 on …`. */
export const headline = (text: string): string => /\*(.+?)\* ([^#]*#[\da-f]+)/.exec(text)?.slice(1).join(' ') ?? text

/** Waits until a channel has exactly these cards. */
export const untilSaid = (slack: SandboxSlack, channel: string, expected: readonly string[], withinMs?: number) =>
  until(
    `${channel} says ${expected.join(', ')}`,
    () => JSON.stringify(headlines(slack, channel)) === JSON.stringify(expected),
    withinMs,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; it says: ${JSON.stringify(headlines(slack, channel))}`)
  })
