import { abortReason, CiError, type CiErrorKind, credentialsIn } from '../http/errors.ts'
import { findJson } from '../../lib/json.ts'
import type { CiRequest, CiResponse } from '../http/exchange.ts'
import type { Transport } from '../http/transport.ts'
import * as z from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { parseHttpUrl } from '../http/address.ts'

/** Provides the `Authorization` header of the v2 interface. */
export interface Auth {
  /** The current value of the header. */
  authorization(): Promise<string>
  /** Another value to try after CI refused this one with 401; null if there is none. */
  renewed(refused: string): Promise<string | null>
  /** Texts that must not appear in errors. */
  secrets(): readonly string[]
}

/** The configured header value, unchanged. */
export const staticAuth = (authorization: string): Auth => ({
  authorization: () => Promise.resolve(authorization),
  renewed: () => Promise.resolve(null),
  secrets: () => [authorization],
})

/**
 * OAuth2 client credentials (RFC 6749, 4.4). Concurrent callers share one token request. The token is renewed before it
 * expires, and after CI refused it. Throws a CiError whose code begins with `CI_TOKEN_`.
 */
export function clientCredentialsAuth(credentials: ClientCredentials): Auth {
  const { clock } = credentials
  const requestToken = createTokenRequest(credentials)
  let token: Token | null = null
  let flight: Promise<Token> | null = null

  const renew = (): Promise<Token> => {
    flight ??= requestToken()
      .then((fresh) => (token = fresh))
      .finally(() => (flight = null))
    return flight
  }
  return {
    authorization: async () => (token !== null && clock.now() < token.renewAt ? token : await renew()).authorization,
    async renewed(refused) {
      // Another call may have renewed it since.
      const current = token !== null && token.authorization !== refused ? token : await renew()
      return current.authorization === refused ? null : current.authorization
    },
    secrets: () => [...secretsOf(credentials), ...(token === null ? [] : [token.authorization])],
  }
}

/**
 * Sends a v2 request with its `Authorization`. A 401 has done nothing, so it is sent again with a renewed one.
 * @param request `secrets`: those in its body
 */
export async function sendAuthorized(
  { auth, transport }: { auth: Auth; transport: Transport },
  request: Omit<CiRequest, 'secrets'> & { secrets?: readonly string[] },
  signal?: AbortSignal,
): Promise<CiResponse> {
  const send = (authorization: string) => {
    const headers = { ...request.headers, authorization }
    const credentials = [...auth.secrets(), authorization].flatMap(credentialsIn)
    const secrets = [...credentials, ...(request.secrets ?? [])]
    return transport.send({ ...request, headers, secrets }, signal)
  }
  const authorization = await unlessAborted(auth.authorization(), request.purpose, signal)
  try {
    return await send(authorization)
  } catch (error) {
    if (!(error instanceof CiError) || error.kind !== 'unauthorized') throw error
    const renewed = await unlessAborted(auth.renewed(authorization), request.purpose, signal)
    if (renewed === null) throw error
    return send(renewed)
  }
}

// If one caller aborts, the token request goes on for the others. The request of that caller was not sent, or was
// refused with 401.
async function unlessAborted<T>(flight: Promise<T>, purpose: string, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return flight
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(abortReason(signal, { purpose, isUndone: true }))
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  return Promise.race([aborted.promise, flight]).finally(() => signal.removeEventListener('abort', abort))
}

interface ClientCredentials {
  tokenUrl: string
  clientId: string
  clientSecret: string
  transport: Transport
  clock: Clock
}

interface Token {
  /** The whole header value: scheme and token. */
  authorization: string
  /** When to renew it; Infinity if the endpoint named no lifetime. */
  renewAt: number
}

/** A token is renewed this long before it expires, but never in the first half of its lifetime. */
const RENEW_BEFORE_MS_MAX = 60_000
const PURPOSE = 'get an access token'

/** Requests a new token (RFC 6749, 4.4). Throws a CiError with a code `CI_TOKEN_…`. */
function createTokenRequest(credentials: ClientCredentials): () => Promise<Token> {
  // The RFC requires HTTP Basic of all endpoints, but some accept the credentials only in the form.
  let ways: readonly Way[] = ['header', 'form']
  return async () => {
    const [way, other] = ways
    try {
      return await fetchToken(credentials, way!)
    } catch (error) {
      if (!(error instanceof CiError) || error.kind !== 'unauthorized' || other === undefined) throw error
      const token = await fetchToken(credentials, other)
      ways = [other]
      return token
    }
  }
}

/** Where the credentials are sent. */
type Way = 'header' | 'form'

async function fetchToken(credentials: ClientCredentials, way: Way): Promise<Token> {
  const { tokenUrl, clientId, clientSecret, transport, clock } = credentials
  const requestedAt = clock.now()
  const form = way === 'form' ? { client_id: clientId, client_secret: clientSecret } : {}
  const response = await transport
    .send({
      method: 'POST',
      url: parseHttpUrl(tokenUrl),
      headers: {
        ...(way === 'header' && { authorization: basicOf(credentials) }),
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...form }).toString(),
      purpose: PURPOSE,
      secrets: secretsOf(credentials),
    })
    .catch((error: unknown) => {
      throw error instanceof CiError ? tokenError(error) : error
    })
  return readToken(response, requestedAt)
}

/** Parts of the credentials that must not appear in errors. */
const secretsOf = (credentials: ClientCredentials): string[] => [
  credentials.clientSecret,
  ...credentialsIn(basicOf(credentials)),
]

function basicOf({ clientId, clientSecret }: ClientCredentials): string {
  const pair = [clientId, clientSecret].map(encodeURIComponent).join(':')
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

const REFUSALS: ReadonlySet<CiErrorKind> = new Set<CiErrorKind>(['bad-request', 'unauthorized', 'forbidden'])

// Endpoints refuse credentials with 400 as often as with 401. Requesting a token twice does no harm, so it is not a
// write; and the call that needed the token was not sent.
function tokenError({ kind, status, reason, retryAfterMs, cause }: CiError): CiError {
  const refused = status !== undefined && REFUSALS.has(kind)
  return new CiError({
    kind: refused ? 'unauthorized' : kind,
    purpose: PURPOSE,
    status,
    reason,
    retryAfterMs,
    cause,
    source: 'CI_TOKEN',
    isUndone: true,
  })
}

const tokenSchema = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  token_type: z
    .string()
    .regex(/^[a-z][\w-]*$/i)
    .catch('Bearer'),
  expires_in: z.coerce.number().positive().catch(Number.POSITIVE_INFINITY),
})

function readToken(response: CiResponse, requestedAt: number): Token {
  const parsed = tokenSchema.safeParse(findJson(response.text))
  // Without a `cause`, which would quote what may be the token.
  if (!parsed.success) throw new CiError({ kind: 'shape', purpose: PURPOSE, source: 'CI_TOKEN', isUndone: true })
  const { access_token: value, token_type: type, expires_in: lifetimeS } = parsed.data
  const lifetimeMs = lifetimeS * 1000
  const scheme = type.toLowerCase() === 'bearer' ? 'Bearer' : type
  const renewAt = requestedAt + Math.max(lifetimeMs / 2, lifetimeMs - RENEW_BEFORE_MS_MAX)
  return { authorization: `${scheme} ${value}`, renewAt }
}
