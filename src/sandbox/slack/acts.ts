import type { Grant } from './api.ts'
import { postMessage, removeMessage } from './messages.ts'
import type { Message } from './messages.ts'
import type { Channel, Workspace } from './workspace.ts'

/** What people and admins of the workspace do to the bot; each throws on a channel or message that is not there. */
export interface Acts {
  /** A person writes; answers the ts. */
  say(message: { user: string; channel: string; text: string; threadTs?: string | undefined }): string
  deleteMessage: (channel: string, ts: string) => void
  /** From now on this message answers `edit_window_closed`. */
  closeEditWindow: (channel: string, ts: string) => void
  archive: (channel: string) => void
  unarchive: (channel: string) => void
  kickBot: (channel: string) => void
  inviteBot: (channel: string) => void
  revokeToken: () => void
  restoreToken: () => void
  /** New messages show in history and replies only after so long; 0 at once. */
  setHistoryLag: (ms: number) => void
}

export function createActs(workspace: Workspace, grant: Grant): Acts {
  const change = (id: string, edit: (channel: Channel) => void): void => {
    const channel = getChannel(workspace, id)
    edit(channel)
    workspace.changes.emit({ kind: 'channel', channel })
  }
  return {
    say: ({ user, channel, text, threadTs }) =>
      postMessage(workspace, getChannel(workspace, channel), { userId: user, text, threadTs }).ts,
    deleteMessage: (id, ts) => {
      const channel = getChannel(workspace, id)
      removeMessage(workspace, channel, getMessage(channel, ts), false)
    },
    closeEditWindow: (id, ts) => void (getMessage(getChannel(workspace, id), ts).isEditWindowClosed = true),
    archive: (id) => change(id, (channel) => void (channel.isArchived = true)),
    unarchive: (id) => change(id, (channel) => void (channel.isArchived = false)),
    kickBot: (id) => change(id, (channel) => void channel.members.delete(workspace.bot.userId)),
    inviteBot: (id) => change(id, (channel) => void channel.members.add(workspace.bot.userId)),
    revokeToken: () => void (grant.isRevoked = true),
    restoreToken: () => void (grant.isRevoked = false),
    setHistoryLag: (ms) => void (workspace.historyLagMs = ms),
  }
}

export function getChannel(workspace: Workspace, id: string): Channel {
  const channel = workspace.channels.get(id)
  if (!channel) throw new Error(`the sandbox has no channel ${id}`)
  return channel
}

export function getMessage(channel: Channel, ts: string): Message {
  const message = channel.messages.get(ts)
  if (!message) throw new Error(`${channel.id} has no message ${ts}`)
  return message
}
