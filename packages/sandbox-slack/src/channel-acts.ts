import type { Events, EventType } from './events.ts'
import type { Json } from './json.ts'
import { PEOPLE } from './workspace.ts'
import type { Channel, Workspace } from './workspace.ts'

/** Changes that admins make to a channel. A change that changes nothing sends no event. */
export interface ChannelActs {
  /** Sends the bot `channel_archive`, or `group_archive` for a private channel. */
  archive: (channel: string) => void
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
}

/** The user that events name as the one who made the change. */
const ADMIN = PEOPLE.grace

export function createChannelActs(workspace: Workspace, events: Events): ChannelActs {
  const { userId } = workspace.bot
  const parts = { workspace, events }
  return {
    archive: (id) => setArchived(parts, getChannel(workspace, id), true),
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
    inviteBot: (id) => join(parts, getChannel(workspace, id), ADMIN),
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
  if (isArchived) tellOf(parts, channel, 'archive', { channel: id, user: ADMIN, is_moved: 0 })
  // For a private channel, Slack calls this field `actor_id` instead of `user`.
  else tellOf(parts, channel, 'unarchive', { channel: id, [kind === 'private' ? 'actor_id' : 'user']: ADMIN })
}

const CREATED_AT_S = 1_700_000_000

function rename(parts: Parts, channel: Channel, name: string): void {
  if (channel.name === name) return
  channel.name = name
  parts.workspace.changes.emit({ kind: 'channel', channel })
  const { id, kind } = channel
  const renamed = { id, name, name_normalized: name, created: CREATED_AT_S }
  tellOf(parts, channel, 'rename', { channel: { ...renamed, is_channel: kind === 'public', is_mpim: false } })
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
    ...(inviter === undefined ? {} : { inviter }),
    event_ts: eventTs(workspace),
  }
  events.tell(event, isPrivate ? 'groups:read' : 'channels:read')
  return true
}

const eventTs = ({ clock }: Workspace): string => (clock.now() / 1_000).toFixed(6)
