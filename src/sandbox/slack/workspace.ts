import type { Clock } from '../../lib/clock.ts'
import { createChanges } from './changes.ts'
import type { Channel, User, Workspace } from './model.ts'

export type { Channel, Ephemeral, User, UserGroup, Workspace } from './model.ts'

/** The cast's people, by name. */
export const PEOPLE = { ada: 'U0ADA00001', grace: 'U0GRACE001', lin: 'U0LIN00001', gus: 'U0GUS00001' } as const

/** The channels, by what they are for. */
export const CHANNELS = {
  builds: 'C0BUILDS01',
  web: 'C0WEB00001',
  ops: 'C0OPS00001',
  archived: 'C0ARCHIV01',
  /** public, without the bot */
  elsewhere: 'C0ELSEWH01',
  /** private, with the bot */
  secret: 'C0SECRET01',
} as const

/** A fresh workspace with the cast in it and nothing said yet. */
export function createWorkspace(clock: Clock): Workspace {
  const bot = { userId: 'U0BUILDBOT', botId: 'B0BUILDBOT', appId: 'A0BUILDBOT', name: 'Buildline' }
  let lastNumber = 0
  return {
    clock,
    team: { id: 'T0SANDBOX1', name: 'Sandbox', domain: 'sandbox' },
    bot,
    users: new Map(castOf(bot.userId, bot.name).map((user) => [user.id, user])),
    userGroups: [{ id: 'S0RELEASE1', handle: 'release', name: 'Release team', users: [PEOPLE.ada, PEOPLE.grace] }],
    channels: new Map(channelsWith(bot.userId).map((channel) => [channel.id, channel])),
    ephemerals: [],
    changes: createChanges(),
    historyLagMs: 0,
    nextNumber: () => (lastNumber += 1),
  }
}

const castOf = (botUserId: string, botName: string): User[] => [
  { id: PEOPLE.ada, name: 'ada', realName: 'Ada', role: 'member' },
  { id: PEOPLE.grace, name: 'grace', realName: 'Grace', role: 'admin' },
  { id: PEOPLE.lin, name: 'lin', realName: 'Lin', role: 'member' },
  { id: PEOPLE.gus, name: 'gus', realName: 'Gus', role: 'guest' },
  { id: botUserId, name: botName.toLowerCase(), realName: botName, role: 'bot' },
]

function channelsWith(botUserId: string): Channel[] {
  const everyone = Object.values(PEOPLE)
  return [
    createChannel(CHANNELS.builds, 'builds', [...everyone, botUserId]),
    createChannel(CHANNELS.web, 'web', [...everyone, botUserId]),
    createChannel(CHANNELS.ops, 'ops', [PEOPLE.ada, PEOPLE.grace, PEOPLE.lin, botUserId]),
    { ...createChannel(CHANNELS.archived, 'old-builds', [...everyone, botUserId]), isArchived: true },
    createChannel(CHANNELS.elsewhere, 'random', everyone),
    { ...createChannel(CHANNELS.secret, 'release-room', [PEOPLE.grace, botUserId]), kind: 'private' },
  ]
}

export const createChannel = (id: string, name: string, members: readonly string[]): Channel => ({
  id,
  name,
  kind: 'public',
  isArchived: false,
  members: new Set(members),
  messages: new Map(),
  threads: new Map(),
  lastTsMicros: 0,
})

const DM_PREFIX = 'D'

/** The direct channel between the bot and a person, opened when there is none yet. */
export function openDirect(workspace: Workspace, userId: string): Channel {
  const id = `${DM_PREFIX}${userId.slice(1)}`
  const known = workspace.channels.get(id)
  if (known) return known
  const members = [userId, workspace.bot.userId]
  const channel: Channel = { ...createChannel(id, workspace.users.get(userId)?.name ?? userId, members), kind: 'im' }
  workspace.channels.set(id, channel)
  workspace.changes.emit({ kind: 'channel', channel })
  return channel
}
