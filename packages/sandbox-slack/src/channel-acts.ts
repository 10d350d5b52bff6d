import type { Events, EventType } from './events.ts'
import type { Json } from './json.ts'
import { CREATED_AT_S, isMovedOf } from './wire-channel.ts'
import { addChannel, createChannel, newChannelId, openGroup, OUTSIDE, PEOPLE } from './workspace.ts'
import type { Channel, Restriction, Workspace } from './workspace.ts'

/** Changes that admins make to a channel. A change that changes nothing sends no event. */
export interface ChannelActs {
  /** Sends the bot `channel_archive`, or `group_archive` for a private channel. */
  archive: (channel: string) => void
  /** The channel goes on elsewhere, and is archived here: `channel_archive` with `is_moved`. */
  moveAway: (channel: string) => void
  /** `channel_unarchive`, `group_unarchive` */
  unarchive: (channel: string) => void
  /** `channel_rename`, `group_rename` */
  rename: (channel: string, name: string) => void
  /** The channel keeps its id. Slack sends no event for this. */
  makePrivate: (channel: string) => void
  /** `channel_left`, `group_left` */
  kickBot: (channel: string) => void
  /** `member_joined_channel` */
  inviteBot: (channel: string) => void
  /** A new channel, without the bot. Returns its id. */
  addChannel: (channel: { name: string; kind: 'public' | 'private'; members: readonly string[] }) => string
  /** Opens a group direct message, which no app is in, or can be invited to. Returns its id. */
  openGroup: (users: readonly string[]) => string
  /**
   * A private channel is shared with another workspace, and so gets a new id: `channel_id_changed`. The old one is not
   * found any more. Returns the new id.
   */
  changeId: (channel: string) => string
  /** What Slack refuses in the channel from now on; null: nothing. */
  restrict: (channel: string, restriction: Restriction | null) => void
}

/** The user that events name as the one who made the change. */
const ADMIN = PEOPLE.grace

export function createChannelActs(workspace: Workspace, events: Events): ChannelActs {
  const { userId } = workspace.bot
  const parts = { workspace, events }
  return {
    archive: (id) => setArchived(parts, getChannel(workspace, id), true),
    moveAway: (id) => {
      const channel = getChannel(workspace, id)
      channel.isMoved = true
      setArchived(parts, channel, true)
    },
    unarchive: (id) => setArchived(parts, getChannel(workspace, id), false),
    rename: (id, name) => rename(parts, getChannel(workspace, id), name),
    makePrivate: (id) => {
      const channel = getChannel(workspace, id)
      if (channel.kind !== 'public') return
      channel.kind = 'private'
      workspace.changes.emit({ kind: 'channel', channel })
    },
    kickBot: (id) => {
      const channel = getChannel(workspace, id)
      if (!channel.members.delete(userId)) return
      workspace.changes.emit({ kind: 'channel', channel })
      tellOf(parts, channel, 'left', { channel: id, actor_id: ADMIN })
    },
    inviteBot: (id) => inviteBot(parts, getChannel(workspace, id)),
    addChannel: ({ name, kind, members }) =>
      addChannel(workspace, { ...createChannel(newChannelId(workspace), name, members), kind }).id,
    openGroup: (users) => openGroup(workspace, users).id,
    changeId: (id) => changeId(parts, getChannel(workspace, id)),
    restrict: (id, restriction) => {
      const channel = getChannel(workspace, id)
      if (restriction) channel.restriction = restriction
      else delete channel.restriction
    },
  }
}

export function getChannel(workspace: Workspace, id: string): Channel {
  const channel = workspace.channels.get(id)
  if (!channel) throw new Error(`the sandbox has no channel ${id}`)
  return channel
}

interface Parts {
  workspace: Workspace
  events: Events
}

function setArchived(parts: Parts, channel: Channel, isArchived: boolean): void {
  if (channel.isArchived === isArchived) return
  channel.isArchived = isArchived
  parts.workspace.changes.emit({ kind: 'channel', channel })
  const { id, kind } = channel
  if (isArchived) tellOf(parts, channel, 'archive', { channel: id, user: ADMIN, is_moved: isMovedOf(channel) })
  // For a private channel, Slack calls this field `actor_id` instead of `user`.
  else tellOf(parts, channel, 'unarchive', { channel: id, [kind === 'private' ? 'actor_id' : 'user']: ADMIN })
}

function rename(parts: Parts, channel: Channel, name: string): void {
  if (channel.name === name) return
  channel.previousNames.unshift(channel.name)
  channel.name = name
  parts.workspace.changes.emit({ kind: 'channel', channel })
  const { id, kind } = channel
  const renamed = { id, name, name_normalized: name, created: CREATED_AT_S }
  tellOf(parts, channel, 'rename', { channel: { ...renamed, is_channel: kind === 'public', is_mpim: false } })
}

function inviteBot(parts: Parts, channel: Channel): void {
  if (channel.kind === 'mpim') throw new Error(`an app cannot be invited to the group direct message ${channel.id}`)
  join(parts, channel, ADMIN)
}

function changeId({ workspace, events }: Parts, channel: Channel): string {
  const { id: from, kind } = channel
  if (kind !== 'private') throw new Error(`${from} is not private, and so keeps its id`)
  workspace.channels.delete(from)
  Object.assign(channel, { id: newChannelId(workspace), sharedWith: [OUTSIDE] })
  workspace.channels.set(channel.id, channel)
  for (const one of workspace.ephemerals) if (one.channelId === from) one.channelId = channel.id
  workspace.changes.emit({ kind: 'moved', from, channel })
  const ids = { old_channel_id: from, new_channel_id: channel.id }
  if (channel.members.has(workspace.bot.userId))
    events.tell({ type: 'channel_id_changed', ...ids, event_ts: eventTs(workspace) })
  return channel.id
}

/** Sends an event, for a private channel only if the bot is in it or has just been removed. */
function tellOf(parts: Parts, channel: Channel, what: 'archive' | 'unarchive' | 'rename' | 'left', fields: Json): void {
  const { workspace, events } = parts
  const isPrivate = channel.kind === 'private'
  if (isPrivate && what !== 'left' && !channel.members.has(workspace.bot.userId)) return
  const type: EventType = `${isPrivate ? 'group' : 'channel'}_${what}`
  events.tell({ type, ...fields, event_ts: eventTs(workspace) })
}

/** Adds the bot to the channel and sends `member_joined_channel`. False if it was already a member. */
export function join({ workspace, events }: Parts, channel: Channel, inviter?: string): boolean {
  const { userId } = workspace.bot
  if (channel.members.has(userId)) return false
  channel.members.add(userId)
  workspace.changes.emit({ kind: 'channel', channel })
  const isPrivate = channel.kind === 'private'
  const event = {
    type: 'member_joined_channel' as const,
    user: userId,
    channel: channel.id,
    channel_type: isPrivate ? 'G' : 'C',
    team: workspace.team.id,
    ...(workspace.enterprise ? { enterprise: workspace.enterprise.id } : {}),
    ...(inviter === undefined ? {} : { inviter }),
    event_ts: eventTs(workspace),
  }
  events.tell(event, isPrivate ? 'groups:read' : 'channels:read')
  return true
}

const eventTs = ({ clock }: Workspace): string => (clock.now() / 1_000).toFixed(6)
