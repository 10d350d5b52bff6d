import type { ChannelId } from '../../domain/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import { fieldOf, isRecord } from '../../domain/raw-values.ts'
import { textOf, failureOfCode, isErrorCode, BROKEN_ANSWER, classify } from './errors.ts'
import type { ClientOptions } from './client.ts'

/** `refuses`: Slack's own word why. `away`: it could not be asked now. Codes only, nothing of what was sent. */
type NoAnswer = { kind: 'refuses' | 'away'; code: string }

/** Who Slack takes us for. */
export type SlackIdentity =
  | {
      kind: 'known'
      /** what the token may do; null where Slack did not say */
      scopes: readonly string[] | null
      /** by how much our clock is ahead of Slack's, to about a second; null where Slack named no time */
      aheadMs: number | null
    }
  | NoAnswer

/** `closed`: nothing can be said in this channel. */
type ChannelLook = { kind: 'open' } | { kind: 'closed'; code: string } | NoAnswer

/** `open`: a Socket Mode connection could be opened; none is. */
type SocketLook = { kind: 'open' } | NoAnswer

export interface SlackExaminer {
  identity(signal: AbortSignal): Promise<SlackIdentity>
  /** Needs `channels:read`, for private channels `groups:read`. */
  channel(channel: ChannelId, signal: AbortSignal): Promise<ChannelLook>
  /** Needs `connections:write`; null without an app token */
  socket: ((signal: AbortSignal) => Promise<SocketLook>) | null
}

/** Looks at Slack as it answers, headers and all, which its client does not show. Never throws. */
export function createSlackExaminer({
  token,
  appToken = null,
  apiUrl = SLACK_API_URL,
  clock,
}: Pick<ClientOptions, 'token' | 'apiUrl'> & { appToken?: string | null; clock: Pick<Clock, 'now'> }): SlackExaminer {
  const call = (method: string, values: Record<string, string>, signal: AbortSignal) =>
    askSlack({ url: new URL(method, apiUrl), token, values, signal, clock })
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
            const url = new URL('apps.connections.open', apiUrl)
            const answer = await askSlack({ url, token: appToken, values: {}, signal, clock })
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
    // Slack writes its time somewhere between our two looks at the clock.
    const atMs = (beganAt + clock.now()) / 2
    return answerOf(response, await response.text(), atMs)
  } catch (error) {
    return { kind: 'away', code: classify(error).code }
  }
}

function answerOf({ status, headers }: Response, text: string, atMs: number): Answer {
  const body = jsonOf(text)
  if (fieldOf(body, 'ok') === true) return { kind: 'answer', body, headers, atMs }
  const code = fieldOf(body, 'error')
  if (!isErrorCode(code)) return { kind: 'away', code: status === 200 ? BROKEN_ANSWER : `http_${status}` }
  const failure = failureOfCode(code)
  return { kind: failure === 'rate-limited' || failure === 'unclear' ? 'away' : 'refuses', code }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const scopesIn = (headers: Headers): string[] | null =>
  headers
    .get('x-oauth-scopes')
    ?.split(',')
    .map((scope) => scope.trim()) ?? null

/** The header names whole seconds, and the time lay anywhere within. */
const HALF_A_SECOND_MS = 500

function aheadOf(headers: Headers, atMs: number): number | null {
  const at = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(at) ? null : Math.round(atMs - at - HALF_A_SECOND_MS)
}

function lookOf(channel: unknown): ChannelLook {
  if (!isRecord(channel)) return { kind: 'away', code: BROKEN_ANSWER }
  if (channel['is_archived'] === true) return { kind: 'closed', code: 'is_archived' }
  // A direct message has no members to be one of.
  const isOutside = channel['is_member'] === false && textOf(channel['user']) === null
  return isOutside ? { kind: 'closed', code: 'not_in_channel' } : { kind: 'open' }
}

/** What PEOPLE_BY_EMAIL needs besides; the manifest does not ask for it. */
export const EMAIL_SCOPE = 'users:read.email'

/** What the bot's token must be allowed to do: exactly what manifest.yml asks for; a test holds the two together. */
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
