import type { ChannelId } from '../../domain/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import { fieldOf, textOf } from '../../domain/raw-values.ts'
import { findJson, isRecord } from '../../lib/json.ts'
import { failureOfCode, isErrorCode, BROKEN_ANSWER, classify } from './errors.ts'
import type { ClientOptions } from './client.ts'

/** `refuses`: Slack said no. `away`: Slack could not be asked now. `code` is an error code, never other text. */
type NoAnswer = { kind: 'refuses' | 'away'; code: string }

/** What Slack says about our token. */
export type SlackIdentity =
  | {
      kind: 'known'
      /** the token's scopes; null if Slack does not name them */
      scopes: readonly string[] | null
      /** how far our clock is ahead of Slack's, to about a second; null if Slack sent no time */
      aheadMs: number | null
    }
  | NoAnswer

/** `closed`: nothing can be posted in this channel. */
type ChannelLook = { kind: 'open' } | { kind: 'closed'; code: string } | NoAnswer

/** `open`: Slack offers a Socket Mode connection. It is not opened. */
type SocketLook = { kind: 'open' } | NoAnswer

export interface SlackExaminer {
  identity(signal: AbortSignal): Promise<SlackIdentity>
  /** Needs `channels:read`, for private channels `groups:read`. */
  channel(channel: ChannelId, signal: AbortSignal): Promise<ChannelLook>
  /** Needs `connections:write`; null without an app token */
  socket: ((signal: AbortSignal) => Promise<SocketLook>) | null
}

/** Checks the token and channels. Reads response headers, which Slack's own client hides. Never throws. */
export function createSlackExaminer({
  token,
  appToken = null,
  apiUrl,
  clock,
}: Pick<ClientOptions, 'token' | 'apiUrl'> & { appToken?: string | null; clock: Pick<Clock, 'now'> }): SlackExaminer {
  const call = (method: string, values: Record<string, string>, signal: AbortSignal, as = token) =>
    askSlack({ url: new URL(method, apiUrl ?? SLACK_API_URL), token: as, values, signal, clock })
  return {
    async identity(signal) {
      const answer = await call('auth.test', {}, signal)
      if (answer.kind !== 'answer') return answer
      const { headers, atMs } = answer
      return { kind: 'known', scopes: scopesIn(headers), aheadMs: aheadOf(headers, atMs) }
    },
    async channel(channel, signal) {
      const answer = await call('conversations.info', { channel }, signal)
      if (answer.kind === 'answer') return lookOf(fieldOf(answer.body, 'channel'))
      const isClosed = answer.kind === 'refuses' && failureOfCode(answer.code) === 'channel-closed'
      return isClosed ? { kind: 'closed', code: answer.code } : answer
    },
    socket:
      appToken === null
        ? null
        : async (signal) => {
            const answer = await call('apps.connections.open', {}, signal, appToken)
            return answer.kind === 'answer' ? { kind: 'open' } : answer
          },
  }
}

const SLACK_API_URL = 'https://slack.com/api/'

interface Question {
  url: URL
  token: string
  values: Record<string, string>
  signal: AbortSignal
  clock: Pick<Clock, 'now'>
}

type Answer = { kind: 'answer'; body: unknown; headers: Headers; atMs: number } | NoAnswer

async function askSlack({ url, token, values, signal, clock }: Question): Promise<Answer> {
  const beganAt = clock.now()
  try {
    const headers = { authorization: `Bearer ${token}` }
    const body = new URLSearchParams(values)
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal })
    // Slack set its `date` between these two readings of our clock: take the middle.
    const atMs = (beganAt + clock.now()) / 2
    return answerOf(response, await response.text(), atMs)
  } catch (error) {
    return { kind: 'away', code: classify(error).code }
  }
}

function answerOf({ status, headers }: Response, text: string, atMs: number): Answer {
  const body = findJson(text)
  if (fieldOf(body, 'ok') === true) return { kind: 'answer', body, headers, atMs }
  const code = fieldOf(body, 'error')
  if (!isErrorCode(code)) return { kind: 'away', code: status === 200 ? BROKEN_ANSWER : `http_${status}` }
  const failure = failureOfCode(code)
  return { kind: failure === 'rate-limited' || failure === 'unclear' ? 'away' : 'refuses', code }
}

const scopesIn = (headers: Headers): string[] | null =>
  headers
    .get('x-oauth-scopes')
    ?.split(',')
    .map((scope) => scope.trim()) ?? null

/** `date` is cut to whole seconds, so Slack's real time is half a second later on average. */
const HALF_A_SECOND_MS = 500

function aheadOf(headers: Headers, atMs: number): number | null {
  const at = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(at) ? null : Math.round(atMs - at - HALF_A_SECOND_MS)
}

function lookOf(channel: unknown): ChannelLook {
  if (!isRecord(channel)) return { kind: 'away', code: BROKEN_ANSWER }
  if (channel['is_archived'] === true) return { kind: 'closed', code: 'is_archived' }
  // A direct message has no members, so `is_member` says nothing there. It has a `user`.
  const isOutside = channel['is_member'] === false && textOf(channel['user']) === null
  return isOutside ? { kind: 'closed', code: 'not_in_channel' } : { kind: 'open' }
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
