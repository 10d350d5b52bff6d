import type { Clock } from '../../lib/clock.ts'
import { createChanges } from './changes.ts'
import type { Channel, Team, User, Workspace } from './model.ts'

export type { Channel, Ephemeral, File, Restriction, Team, User, UserGroup, Workspace } from './model.ts'

/** The user ids of people, by name. Sol is an outsider from another workspace. */
export const PEOPLE = {
  ada: 'U0ADA00001',
  grace: 'U0GRACE001',
  lin: 'U0LIN00001',
  gus: 'U0GUS00001',
  sol: 'U0SOL00001',
} as const

/** Accounts that nobody uses: one is deactivated, the others are another app's, a workflow's and a connector's. */
export const ACCOUNTS = {
  deactivated: 'U0FORMER01',
  otherBot: 'U0OTHERBOT',
  workflow: 'U0WORKFLOW',
  connector: 'U0CONNECT1',
} as const

/** Sol's workspace. */
export const OUTSIDE: Team = { id: 'T0OUTSIDE1', name: 'Outside', domain: 'outside' }

/** The organization of `acts.joinGrid`, and another workspace in it. */
export const GRID = { id: 'E0SANDBOX1', name: 'Sandbox Grid', otherTeam: 'T0SANDBOX2' } as const

/** The channel ids, by purpose. */
export const CHANNELS = {
  builds: 'C0BUILDS01',
  web: 'C0WEB00001',
  ops: 'C0OPS00001',
  archived: 'C0ARCHIV01',
  /** public, without the bot */
  elsewhere: 'C0ELSEWH01',
  /** private, with the bot */
  secret: 'C0SECRET01',
  /** shared with another workspace, with the bot */
  shared: 'C0SHARED01',
} as const

/** A new workspace with people and channels, but without messages. */
export function createWorkspace(
  clock: Clock,
  { namesApp = false }: { namesApp?: boolean | undefined } = {},
): Workspace {
  const bot = { userId: 'U0BUILDBOT', botId: 'B0BUILDBOT', appId: 'A0BUILDBOT', name: 'Buildline' }
  let lastNumber = 0
  return {
    clock,
    team: { id: 'T0SANDBOX1', name: 'Sandbox', domain: 'sandbox' },
    bot,
    enterprise: null,
    namesApp,
    users: new Map(castOf(bot).map((user) => [user.id, user])),
    userGroups: [{ id: 'S0RELEASE1', handle: 'release', name: 'Release team', users: [PEOPLE.ada, PEOPLE.grace] }],
    channels: new Map(channelsWith(bot.userId).map((channel) => [channel.id, channel])),
    ephemerals: [],
    files: new Map(),
    origin: '',
    changes: createChanges(),
    historyLagMs: 0,
    nextNumber: () => (lastNumber += 1),
  }
}

const castOf = (bot: Workspace['bot']): User[] => [
  { id: PEOPLE.ada, name: 'ada', realName: 'Ada', email: 'ada@acme.example', role: 'member' },
  { id: PEOPLE.grace, name: 'grace', realName: 'Grace', email: 'grace@acme.example', role: 'admin' },
  { id: PEOPLE.lin, name: 'lin', realName: 'Lin', email: 'lin@acme.example', role: 'member' },
  { id: PEOPLE.gus, name: 'gus', realName: 'Gus', email: 'gus@acme.example', role: 'guest' },
  { id: PEOPLE.sol, name: 'sol', realName: 'Sol', email: 'sol@outside.example', role: 'member', team: OUTSIDE },
  {
    id: ACCOUNTS.deactivated,
    name: 'former',
    realName: 'Former member',
    email: 'former@acme.example',
    role: 'member',
    isDeactivated: true,
  },
  {
    id: ACCOUNTS.otherBot,
    name: 'otherbot',
    realName: 'Other app',
    role: 'bot',
    bot: { botId: 'B0OTHERBOT', appId: 'A0OTHERBOT', kind: 'app' },
  },
  {
    id: ACCOUNTS.workflow,
    name: 'workflow',
    realName: 'Workflow',
    role: 'bot',
    bot: { botId: 'B0WORKFLOW', appId: 'A0WORKFLOW', kind: 'workflow' },
  },
  {
    id: ACCOUNTS.connector,
    name: 'connector',
    realName: 'Connector',
    role: 'bot',
    bot: { botId: 'B0CONNECT1', appId: 'A0CONNECT1', kind: 'connector' },
  },
  {
    id: bot.userId,
    name: bot.name.toLowerCase(),
    realName: bot.name,
    role: 'bot',
    bot: { botId: bot.botId, appId: bot.appId, kind: 'app' },
  },
]

function channelsWith(botUserId: string): Channel[] {
  const { sol, ...insiders } = PEOPLE
  const everyone = Object.values(insiders)
  return [
    createChannel(CHANNELS.builds, 'builds', [...everyone, botUserId]),
    createChannel(CHANNELS.web, 'web', [...everyone, botUserId]),
    createChannel(CHANNELS.ops, 'ops', [PEOPLE.ada, PEOPLE.grace, PEOPLE.lin, botUserId]),
    { ...createChannel(CHANNELS.archived, 'old-builds', [...everyone, botUserId]), isArchived: true },
    createChannel(CHANNELS.elsewhere, 'random', everyone),
    { ...createChannel(CHANNELS.secret, 'release-room', [PEOPLE.grace, botUserId]), kind: 'private' },
    { ...createChannel(CHANNELS.shared, 'shared', [PEOPLE.ada, PEOPLE.grace, sol, botUserId]), sharedWith: [OUTSIDE] },
  ]
}

export const createChannel = (id: string, name: string, members: readonly string[]): Channel => ({
  id,
  name,
  previousNames: [],
  kind: 'public',
  isArchived: false,
  members: new Set(members),
  messages: new Map(),
  threads: new Map(),
  lastTsMicros: 0,
})

/** The direct channel between the bot and a person. Opens it if needed. */
export const openDirect = (workspace: Workspace, userId: string): Channel =>
  findDirect(workspace, [userId, workspace.bot.userId]) ??
  addDirect(workspace, `D${userId.slice(1)}`, [userId, workspace.bot.userId])

/** The direct channel between two people, which the bot cannot see. Opens it if needed. */
export const openDirectBetween = (workspace: Workspace, pair: readonly [string, string]): Channel =>
  findDirect(workspace, pair) ?? addDirect(workspace, `D0${String(workspace.nextNumber()).padStart(8, '0')}`, pair)

/** The direct channel between these two, if it is open. */
export const findDirect = ({ channels }: Workspace, pair: readonly [string, string]): Channel | undefined =>
  [...channels.values()].find(({ kind, members }) => kind === 'im' && pair.every((id) => members.has(id)))

function addDirect(workspace: Workspace, id: string, pair: readonly [string, string]): Channel {
  const name = pair.map((one) => workspace.users.get(one)?.name ?? one).join('-')
  return addChannel(workspace, { ...createChannel(id, name, pair), kind: 'im' })
}

/** Opens a group direct message. An app cannot be invited to one, and so cannot see it. */
export function openGroup(workspace: Workspace, users: readonly string[]): Channel {
  const names = users.map((one) => workspace.users.get(one)?.name ?? one)
  const id = newChannelId(workspace)
  return addChannel(workspace, { ...createChannel(id, `mpdm-${names.join('--')}-1`, users), kind: 'mpim' })
}

export function addChannel(workspace: Workspace, channel: Channel): Channel {
  workspace.channels.set(channel.id, channel)
  workspace.changes.emit({ kind: 'channel', channel })
  return channel
}

export const newChannelId = (workspace: Workspace): string => `C0${String(workspace.nextNumber()).padStart(8, '0')}`

/** The workspace in which a person acts: their own for an outsider, else this one. */
export const teamOf = (workspace: Workspace, user: User): Team => user.team ?? workspace.team

/** The id of the workspace that Slack names as a person's own. In an organization it may be any of theirs. */
export const homeIdOf = (workspace: Workspace, user: User): string => user.grid?.teams[0] ?? teamOf(workspace, user).id
