import { setNewest } from '../../lib/bounded.ts'
import type { WebClient } from '@slack/web-api'
import { zoneNamed } from '../../domain/rules/digest.ts'
import { listedFor, permit, type Grants, type Permit, type Person, type Right } from './permission.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import { isRecord } from '../../lib/json.ts'
import { BrokenAnswer, classify } from './errors.ts'
import { createClient, type ClientOptions } from './client.ts'
import { isChannelId, type ChannelId } from '../../domain/ids.ts'

/**
 * How long Slack's answers are cached. Until they expire, a lost right, or a channel that a person left, still counts.
 */
const KNOWN_FOR_MS = 60_000

/** A rate limit up to this is waited out, and the person who clicked waits too. A longer one gets an error. */
export const RATE_LIMIT_WAIT_MS_MAX = 5_000

/** Entries in the cache; beyond this the oldest is dropped. */
const REMEMBERED_MAX = 5_000

/** `gone`: deactivated, or unknown to Slack. `unknown`: Slack did not say. */
export type Presence = { kind: 'here' } | { kind: 'gone' } | { kind: 'unknown'; code: string }

/** The people of the workspace, from Slack, cached for a minute. Needs `users:read`, for groups `usergroups:read`. */
export function createDirectory({ clock, grants, ...options }: ClientOptions & { clock: Clock; grants: Grants }) {
  const client = createClient(options)
  const people = createMemory(clock, REMEMBERED_MAX, (user: string) => readPerson(client, user))
  const groups = createMemory(clock, REMEMBERED_MAX, (group: string) => readGroup(client, group))
  const ours = createMemory(clock, 1, () => readHome(client))

  /** The listed groups that the person is in. Asks for none if the person is listed directly. */
  async function groupsOf(user: string, right: Right): Promise<string[]> {
    const listed = listedFor(right, grants)
    const { ids } = await people(user)
    if (listed.some((id) => ids.includes(id))) return []
    const asked = listed.filter((id) => id.startsWith('S'))
    const members = await Promise.all(asked.map(async (group) => [group, await groups(group)] as const))
    return members.filter(([, users]) => users.some((id) => ids.includes(id))).map(([group]) => group)
  }

  return {
    /**
     * Whether this person may do that. Asks Slack who they are. If Slack does not say, they may not.
     * @param team the user's workspace, as Slack's request names it
     */
    async permits(
      right: Right,
      { user, team }: { user: string; team: string | null },
    ): Promise<Permit | { kind: 'unknown-person'; code: string }> {
      try {
        // In parallel, to save time; only the groups wait for the person's ids.
        const asked = [people(user), ours(''), groupsOf(user, right)] as const
        const [person, home, memberOf] = await Promise.all(asked)
        return permit(right, { ...person, isOutsider: isOutsider(person, home, team) }, grants, memberOf)
      } catch (error) {
        return { kind: 'unknown-person', code: classify(error).code }
      }
    },
    /** Whether this person is still in the workspace. Not cached: asks Slack each time. */
    async presenceOf(user: string): Promise<Presence> {
      try {
        const { isDeactivated } = await retryOnRateLimit(clock, () => readPerson(client, user))
        return { kind: isDeactivated ? 'gone' : 'here' }
      } catch (error) {
        const { code } = classify(error)
        return NOBODY.has(code) ? { kind: 'gone' } : { kind: 'unknown', code }
      }
    },
    /** The person's time zone, such as `Europe/Berlin`; UTC if Slack does not say. */
    timeZoneOf: (user: string): Promise<string> =>
      people(user).then(
        ({ timeZone }) => timeZone,
        () => UTC,
      ),
    /** The person's name, for texts that must not mention (notify) them; null if Slack does not say. */
    nameOf: (user: string): Promise<string | null> =>
      people(user).then(
        ({ name }) => name,
        () => null,
      ),
  }
}

const NOBODY: ReadonlySet<string> = new Set(['user_not_found', 'user_not_visible'])

interface Member extends Person {
  /** the id that Slack used in this answer */
  id: string
  teamId: string | null
  /** the person's workspaces and organization on Enterprise Grid; empty and null elsewhere */
  gridTeams: readonly unknown[]
  enterpriseId: string | null
  timeZone: string
  name: string | null
}

const UTC = 'UTC'

/** Our workspace, and its organization on Enterprise Grid. */
interface Home {
  teamId: string | null
  enterpriseId: string | null
}

/**
 * Slack's `is_stranger` is true only for people who share no channel with the bot. For others, compare the workspaces.
 * @param team the person's workspace, as Slack's request names it
 */
export function isOutsider(person: Member, ours: Home, team: string | null = null): boolean {
  if (person.isOutsider) return true
  if (ours.teamId === null) return false
  // On Enterprise Grid, `team` and `teamId` may name another workspace of somebody who is in ours too, or the organization.
  if (person.gridTeams.length > 0) return !person.gridTeams.includes(ours.teamId)
  return [team, person.teamId, person.enterpriseId].some(
    (one) => one !== null && one !== ours.teamId && one !== ours.enterpriseId,
  )
}

const readPerson = async (client: WebClient, user: string): Promise<Member> =>
  personIn(await client.apiCall('users.info', { user }))

export function personIn(answer: unknown): Member {
  const found = fieldOf(answer, 'user')
  const user = textOf(fieldOf(found, 'id'))
  if (!isRecord(found) || user === null) throw new BrokenAnswer('the answer has no user')
  const profile = found['profile']
  const inOrganization = found['enterprise_user']
  const gridId = textOf(fieldOf(inOrganization, 'id'))
  const is = (name: string): boolean => found[name] === true
  return {
    id: user,
    ids: gridId === null ? [user] : [user, gridId],
    teamId: textOf(found['team_id']),
    gridTeams: [found['teams'], fieldOf(inOrganization, 'teams')].filter((teams) => Array.isArray(teams)).flat(),
    enterpriseId: textOf(found['enterprise_id']) ?? textOf(fieldOf(inOrganization, 'enterprise_id')),
    // UTC also for a zone that this machine does not know.
    timeZone: zoneNamed(textOf(found['tz']) ?? UTC) ?? UTC,
    name:
      [fieldOf(profile, 'display_name'), fieldOf(profile, 'real_name'), found['name']].map(textOf).find(Boolean) ??
      null,
    isGuest: is('is_restricted') || is('is_ultra_restricted'),
    isOutsider: is('is_stranger'),
    isDeactivated: is('deleted'),
    isBot: BOT_FLAGS.some(is) || user === 'USLACKBOT',
    isAdmin: is('is_admin') || is('is_owner') || is('is_primary_owner'),
  }
}

/** Slack does not set `is_bot` for workflows and connectors. */
const BOT_FLAGS = ['is_bot', 'is_workflow_bot', 'is_connector_bot'] as const

async function readGroup(client: WebClient, usergroup: string): Promise<string[]> {
  const users = fieldOf(await client.apiCall('usergroups.users.list', { usergroup }), 'users')
  if (!Array.isArray(users)) throw new BrokenAnswer('the answer has no list of users')
  return users.filter((user) => typeof user === 'string')
}

export async function readHome(client: WebClient): Promise<Home> {
  const answer = await client.apiCall('auth.test', {})
  return { teamId: textOf(fieldOf(answer, 'team_id')), enterpriseId: textOf(fieldOf(answer, 'enterprise_id')) }
}

/** Retries once after the time that Slack asks for, unless that is too long to keep a person waiting. */
export async function retryOnRateLimit<Value>(clock: Clock, ask: () => Promise<Value>): Promise<Value> {
  try {
    return await ask()
  } catch (error) {
    const failure = classify(error)
    if (failure.kind !== 'rate-limited' || failure.retryAfterMs > RATE_LIMIT_WAIT_MS_MAX) throw error
    await clock.sleep(failure.retryAfterMs)
    return ask()
  }
}

/** Caches Slack's answers by key, at most `max`. Concurrent callers share one call. A failed answer is not cached. */
function createMemory<Key, Value>(clock: Clock, max: number, ask: (key: Key) => Promise<Value>) {
  const known = new Map<Key, { at: number; value: Promise<Value> }>()
  return (key: Key): Promise<Value> => {
    const fresh = known.get(key)
    if (fresh && clock.now() - fresh.at < KNOWN_FOR_MS) return fresh.value
    const value = retryOnRateLimit(clock, () => ask(key))
    const entry = { at: clock.now(), value }
    setNewest(known, key, entry, max)
    value.catch(() => {
      if (known.get(key) === entry) known.delete(key)
    })
    return value
  }
}

/** How many pages are read, and channels per page. Of a person in more channels only the first ones are seen. */
const PAGES_MAX = 5
const PAGE_CHANNELS = 200

const CHANNEL_LISTS_MAX = 1_000

export type Memberships = ReturnType<typeof createMemberships>

/** The channels that people are in, from Slack, cached for a minute. Needs `channels:read` and `groups:read`. */
export function createMemberships({
  clock,
  log,
  ...options
}: ClientOptions & { clock: Clock; log: Pick<Log, 'warn'> }) {
  const client = createClient(options)
  const remembered = createMemory(clock, CHANNEL_LISTS_MAX, (user: string | null) => readChannels(client, user))

  async function asked(user: string | null): Promise<ReadonlySet<ChannelId> | null> {
    try {
      return await remembered(user)
    } catch (error) {
      log.warn({ err: error }, 'Slack does not say which channels somebody is in')
      return null
    }
  }

  return {
    /** The channels that this person is in, private ones only if the bot is too; null if Slack fails. Never throws. */
    channelsOf: (user: string) => asked(user),
    /** The channels that this person can read: their own, and the bot's public ones. Null as for `channelsOf`. */
    async seenBy(user: string): Promise<ReadonlySet<ChannelId> | null> {
      const [own, ours] = await Promise.all([asked(user), asked(null)])
      return own && ours && new Set([...own, ...ours])
    },
  }
}

/** @param user null: the public channels that the bot is in */
async function readChannels(client: WebClient, user: string | null): Promise<ReadonlySet<ChannelId>> {
  const channels = new Set<ChannelId>()
  let cursor = ''
  for (let page = 0; page < PAGES_MAX; page++) {
    const answer = await client.apiCall('users.conversations', {
      ...(user === null ? { types: 'public_channel' } : { user, types: 'public_channel,private_channel' }),
      limit: PAGE_CHANNELS,
      ...(cursor === '' ? {} : { cursor }),
    })
    for (const id of idsIn(answer)) channels.add(id)
    cursor = textOf(fieldOf(fieldOf(answer, 'response_metadata'), 'next_cursor')) ?? ''
    if (cursor === '') break
  }
  return channels
}

function idsIn(answer: unknown): ChannelId[] {
  const list = fieldOf(answer, 'channels')
  const ids = Array.isArray(list) ? list.map((channel: unknown) => textOf(fieldOf(channel, 'id'))) : []
  return ids.filter((id) => id !== null).filter(isChannelId)
}
