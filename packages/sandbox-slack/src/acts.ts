import type { Grant } from './grant.ts'
import { createChannelActs, getChannel } from './channel-acts.ts'
import type { ChannelActs } from './channel-acts.ts'
import type { Events } from './events.ts'
import { postMessage, removeMessage } from './messages.ts'
import type { Message } from './messages.ts'
import type { GridTeams } from './model.ts'
import { toWireUser } from './wire.ts'
import { GRID } from './workspace.ts'
import type { Channel, User, Workspace } from './workspace.ts'

export { getChannel } from './channel-acts.ts'

/** Actions of people and admins that affect the bot. Each throws if a user, channel or message does not exist. */
export interface Acts extends ChannelActs {
  /** A person writes a message. Returns its ts. */
  say(message: { user: string; channel: string; text: string; threadTs?: string | undefined }): string
  deleteMessage: (channel: string, ts: string) => void
  /** From now on, edits of this message are refused with `edit_window_closed`. */
  closeEditWindow: (channel: string, ts: string) => void
  /** Sends the bot `user_change`. */
  deactivate: (user: string) => void
  reactivate: (user: string) => void
  /** The app may not see this person any more: `user_not_visible`. */
  hide: (user: string) => void
  /** The workspace becomes one of an organization (Enterprise Grid). */
  joinGrid: () => void
  /** The person's workspaces in the organization, which the workspace joins if it is in none. */
  setGridTeams: (user: string, grid: GridTeams) => void
  revokeToken: () => void
  restoreToken: () => void
  /** The app is removed from the workspace: the token is revoked, and `app_uninstalled` and `tokens_revoked` are sent. */
  uninstall: () => void
  /** Removes or adds a scope of the app. Methods and events that need it stop or work from now on. */
  revokeScope: (scope: string) => void
  grantScope: (scope: string) => void
  /** How long new messages stay hidden from history and replies; 0: they show at once. */
  setHistoryLag: (ms: number) => void
}

export function createActs(workspace: Workspace, grant: Grant, events: Events): Acts {
  return {
    ...createChannelActs(workspace, events),
    say: ({ user, channel, text, threadTs }) =>
      postMessage(workspace, getChannel(workspace, channel), { userId: user, text, threadTs }).ts,
    deleteMessage: (id, ts) => {
      const channel = getChannel(workspace, id)
      removeMessage(workspace, channel, getMessage(channel, ts), false)
    },
    closeEditWindow: (id, ts) => void (getMessage(getChannel(workspace, id), ts).isEditWindowClosed = true),
    deactivate: (id) => changeAccount(workspace, events, id, true),
    reactivate: (id) => changeAccount(workspace, events, id, false),
    hide: (id) => void (getUser(workspace, id).isHidden = true),
    joinGrid: () => joinGrid(workspace),
    setGridTeams: (id, grid) => {
      joinGrid(workspace)
      getUser(workspace, id).grid = grid
    },
    revokeToken: () => void (grant.isRevoked = true),
    restoreToken: () => void (grant.isRevoked = false),
    uninstall: () => {
      grant.isRevoked = true
      events.tell({ type: 'app_uninstalled' })
      events.tell({ type: 'tokens_revoked', tokens: { oauth: [], bot: [workspace.bot.userId] } })
    },
    revokeScope: (scope) => void grant.scopes.delete(scope),
    grantScope: (scope) => void grant.scopes.add(scope),
    setHistoryLag: (ms) => void (workspace.historyLagMs = ms),
  }
}

function changeAccount(workspace: Workspace, events: Events, id: string, isDeactivated: boolean): void {
  const user = getUser(workspace, id)
  if ((user.isDeactivated ?? false) === isDeactivated) return
  user.isDeactivated = isDeactivated
  workspace.changes.emit({ kind: 'user', user })
  const nowS = workspace.clock.now() / 1_000
  const stamps = { cache_ts: Math.floor(nowS), event_ts: nowS.toFixed(6) }
  events.tell({ type: 'user_change', user: toWireUser(workspace, user), ...stamps })
}

const joinGrid = (workspace: Workspace): void => void (workspace.enterprise = { id: GRID.id, name: GRID.name })

export function getUser(workspace: Workspace, id: string): User {
  const user = workspace.users.get(id)
  if (!user) throw new Error(`the sandbox has no user ${id}`)
  return user
}

export function getMessage(channel: Channel, ts: string): Message {
  const message = channel.messages.get(ts)
  if (!message) throw new Error(`${channel.id} has no message ${ts}`)
  return message
}
