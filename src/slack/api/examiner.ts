import type { ChannelId } from '../../domain/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import { createCanPost, type CanPost } from './send-text.ts'
import { troubleOf, type SlackTrouble } from './errors.ts'
import { createClient, type ClientOptions } from './client.ts'

/** Slack's answer about our token. */
export type SlackIdentity =
  | {
      kind: 'known'
      /** the token's scopes; null if Slack does not name them */
      scopes: readonly string[] | null
      /** how far our clock is ahead of Slack's, to about a second; null if Slack sent no time */
      aheadMs: number | null
      /** the names of the bot and of its workspace, if Slack says them */
      bot?: string | null
      team?: string | null
    }
  | SlackTrouble

export interface SlackExaminer {
  identity(): Promise<SlackIdentity>
  channel(channel: ChannelId): Promise<CanPost>
  /** `open`: Slack offers a Socket Mode connection, which is not opened. Needs `connections:write`; null without a token. */
  socket: (() => Promise<{ kind: 'open' } | SlackTrouble>) | null
}

/** Checks the token and channels. Never throws. */
export function createSlackExaminer({
  token,
  appToken = null,
  apiUrl,
  clock,
}: Pick<ClientOptions, 'token' | 'apiUrl'> & { appToken?: string | null; clock: Pick<Clock, 'now'> }): SlackExaminer {
  return {
    async identity() {
      const beganAt = clock.now()
      const said = { kind: 'known' as const, scopes: null as string[] | null, aheadMs: null as number | null }
      const onResponse = (headers: Pick<Headers, 'get'>) => {
        said.scopes = scopesIn(headers)
        // Slack set its `date` between these two readings of our clock: take the middle.
        said.aheadMs = aheadOf(headers, (beganAt + clock.now()) / 2)
      }
      const call = createClient({ token, apiUrl, onResponse }).apiCall('auth.test')
      return call.then(
        (answer) => ({ ...said, bot: textOf(fieldOf(answer, 'user')), team: textOf(fieldOf(answer, 'team')) }),
        troubleOf,
      )
    },
    channel: createCanPost({ token, apiUrl }),
    socket:
      appToken === null
        ? null
        : () =>
            createClient({ token: appToken, apiUrl })
              .apiCall('apps.connections.open')
              .then(() => ({ kind: 'open' }), troubleOf),
  }
}

const scopesIn = (headers: Pick<Headers, 'get'>): string[] | null =>
  headers
    .get('x-oauth-scopes')
    ?.split(',')
    .map((scope) => scope.trim()) ?? null

/** `date` is cut to whole seconds, so Slack's real time is half a second later on average. */
const HALF_A_SECOND_MS = 500

function aheadOf(headers: Pick<Headers, 'get'>, atMs: number): number | null {
  const at = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(at) ? null : Math.round(atMs - at - HALF_A_SECOND_MS)
}

/** The additional scope for PEOPLE_BY_EMAIL. manifest.yml does not ask for it. */
export const EMAIL_SCOPE = 'users:read.email'

/** The scopes that the bot's token needs: exactly those in manifest.yml, as a test checks. */
export const SCOPES = [
  'app_mentions:read',
  'channels:history',
  'channels:read',
  'chat:write',
  'commands',
  'files:write',
  'groups:history',
  'groups:read',
  'usergroups:read',
  'users:read',
] as const
