import type { WebClient } from '@slack/web-api'
import { isChannelId, type ChannelId } from '../../domain/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import { fieldOf } from '../../domain/raw-values.ts'
import { textOf } from './answer.ts'
import { createClient, type ClientOptions } from './client.ts'
import { createMemory } from './memory.ts'

/** What Slack says holds so long: who has left a private channel may see so much longer what it follows. */
const KNOWN_FOR_MS = 60_000

/** Pages of Slack's that are read, and how many channels each has: whoever is in more sees those of the first ones. */
const PAGES_MAX = 5
const PAGE_CHANNELS = 200

const REMEMBERED_MAX = 1_000

export interface Memberships {
  /** The channels that this person is in, private ones where we are too; null: Slack does not say. Never throws. */
  channelsOf(user: string): Promise<ReadonlySet<ChannelId> | null>
  /** The channels that this person can look into: their own, and the public ones that we are in. Else as `channelsOf`. */
  seenBy(user: string): Promise<ReadonlySet<ChannelId> | null>
}

/** Who is where, from Slack, remembered for a minute. Needs `channels:read` and `groups:read`. */
export function createMemberships({
  clock,
  log,
  ...options
}: ClientOptions & { clock: Clock; log: { warn(fields: object, text: string): void } }): Memberships {
  const client = createClient(options)
  const limits = { clock, knownForMs: KNOWN_FOR_MS, max: REMEMBERED_MAX }
  const remembered = createMemory(limits, (user: string | null) => readChannels(client, user))

  async function asked(user: string | null): Promise<ReadonlySet<ChannelId> | null> {
    try {
      return await remembered(user)
    } catch (error) {
      log.warn({ err: error }, 'Slack does not say which channels somebody is in')
      return null
    }
  }

  return {
    channelsOf: asked,
    async seenBy(user) {
      const [own, ours] = await Promise.all([asked(user), asked(null)])
      return own && ours && new Set([...own, ...ours])
    },
  }
}

/** @param user null: the public ones that we are in ourselves */
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
