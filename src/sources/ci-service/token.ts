import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { parseHttpUrl } from './address.ts'
import { CiError } from './errors.ts'
import type { CiErrorKind } from './errors.ts'
import { parseJson } from '../../lib/json.ts'
import { credentialsIn } from './reason.ts'
import type { Transport } from './transport.ts'

export interface ClientCredentials {
  tokenUrl: string
  clientId: string
  clientSecret: string
  transport: Transport
  clock: Clock
}

export interface Token {
  /** The whole header value: scheme and token. */
  authorization: string
  /** From then on a new one is due; Infinity when the endpoint named no lifetime. */
  renewAt: number
}

/** A token is renewed this long before it ends, or after half its life when that is shorter. */
const RENEW_BEFORE_MS_MAX = 60_000
const PURPOSE = 'get an access token'

/** Asks the token endpoint (RFC 6749, 4.4), each call once. Throws a CiError with a code `CI_TOKEN_…`. */
export function createTokenRequest(credentials: ClientCredentials): () => Promise<Token> {
  // Some endpoints take the credentials only as HTTP Basic, as the RFC demands of all, others only in the form.
  let ways = [inHeader(credentials), inForm(credentials)]
  return async () => {
    const askedAt = credentials.clock.now()
    const [way, other] = ways
    try {
      return readToken(await send(credentials, way!), askedAt)
    } catch (error) {
      if (!(error instanceof CiError) || error.kind !== 'unauthorized' || other === undefined) throw error
      const token = readToken(await send(credentials, other), askedAt)
      ways = [other]
      return token
    }
  }
}

/** What no error may show of the credentials. */
export const secretsOf = ({ clientId, clientSecret }: ClientCredentials): string[] => [
  clientSecret,
  ...credentialsIn(basicOf(clientId, clientSecret)),
]

interface Way {
  headers: Record<string, string>
  form: Record<string, string>
}

const inHeader = ({ clientId, clientSecret }: ClientCredentials): Way => ({
  headers: { authorization: basicOf(clientId, clientSecret) },
  form: {},
})

const inForm = ({ clientId, clientSecret }: ClientCredentials): Way => ({
  headers: {},
  form: { client_id: clientId, client_secret: clientSecret },
})

function basicOf(clientId: string, clientSecret: string): string {
  const pair = [clientId, clientSecret].map(encodeURIComponent).join(':')
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

async function send(credentials: ClientCredentials, { headers, form }: Way): Promise<string> {
  try {
    const response = await credentials.transport.send({
      method: 'POST',
      url: parseHttpUrl(credentials.tokenUrl),
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...form }).toString(),
      purpose: PURPOSE,
      secrets: secretsOf(credentials),
    })
    return response.text
  } catch (error) {
    throw error instanceof CiError ? tokenError(error) : error
  }
}

const REFUSALS: ReadonlySet<CiErrorKind> = new Set<CiErrorKind>(['bad-request', 'unauthorized', 'forbidden'])

// An endpoint refuses credentials with 400 as often as with 401. Asking for a token twice does no harm, so it is
// no write; and whatever needed the token was not sent.
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

function readToken(text: string, askedAt: number): Token {
  const { access_token: value, token_type: type, expires_in: lifetimeS } = parseToken(text)
  const lifetimeMs = lifetimeS * 1000
  const scheme = type.toLowerCase() === 'bearer' ? 'Bearer' : type
  const renewAt = askedAt + Math.max(lifetimeMs / 2, lifetimeMs - RENEW_BEFORE_MS_MAX)
  return { authorization: `${scheme} ${value}`, renewAt }
}

function parseToken(text: string): z.infer<typeof tokenSchema> {
  try {
    return tokenSchema.parse(parseJson(text))
  } catch {
    // Without a cause: it would quote what may be the token.
    throw new CiError({ kind: 'shape', purpose: PURPOSE, source: 'CI_TOKEN', isUndone: true })
  }
}
