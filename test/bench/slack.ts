import { createSandboxSlack, type SandboxSlackOptions } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import type { Message } from '../../packages/sandbox-slack/src/messages.ts'
import { createChannel } from '../../packages/sandbox-slack/src/workspace.ts'

/** One write that Slack accepted, and when (ms of `performance.now`). */
export interface Write {
  kind: 'posted' | 'edited' | 'removed'
  channel: string
  message: Message
  at: number
}

export type Slack = Awaited<ReturnType<typeof openSlack>>

/** The key of the claim that the bot posted it with. */
export const claimOf = ({ message }: Write): string =>
  (message.metadata as { event_payload: { key: string } }).event_payload.key

export const channelId = (n: number): string => `C0BENCH${String(n).padStart(3, '0')}`

/** A sandbox Slack with so many channels, and the record of what the bot wrote there. */
export async function openSlack(channels: number, options: SandboxSlackOptions = {}) {
  const sandbox = createSandboxSlack(options)
  const { workspace } = sandbox
  for (let n = 1; n <= channels; n++)
    workspace.channels.set(channelId(n), createChannel(channelId(n), `bench-${n}`, [workspace.bot.userId]))
  const writes: Write[] = []
  const watchers = new Set<() => void>()
  workspace.changes.on((change) => {
    if (change.kind !== 'posted' && change.kind !== 'edited' && change.kind !== 'removed') return
    writes.push({ kind: change.kind, channel: change.channel.id, message: change.message, at: performance.now() })
    for (const watcher of watchers) watcher()
  })
  await sandbox.start()

  return {
    sandbox,
    writes,
    /** Resolves with what `look` finds, as soon as it finds something. */
    until<T>(look: () => T | undefined): Promise<T> {
      return new Promise((resolve) => {
        const watcher = () => {
          const found = look()
          if (found === undefined) return
          watchers.delete(watcher)
          resolve(found)
        }
        watchers.add(watcher)
        watcher()
      })
    },
    /** Calls that were in vain, 429 or otherwise: each method with how it ended and how often. */
    wasted: (): string[] =>
      Object.entries(sandbox.counters.snapshot().calls).flatMap(([method, outcomes]) =>
        Object.entries(outcomes).flatMap(([outcome, calls]) =>
          outcome === 'ok' ? [] : `${method} ${outcome}: ${calls}`,
        ),
      ),
  }
}
