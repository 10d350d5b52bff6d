import { abortReason, CiError } from './errors.ts'
import type { CiRequest, CiResponse } from './exchange.ts'
import { credentialsIn } from './reason.ts'
import { createTokenRequest, secretsOf } from './token.ts'
import type { ClientCredentials, Token } from './token.ts'
import type { Transport } from './transport.ts'

/** Where the `Authorization` header of the v2 interface comes from. */
export interface Auth {
  /** The header's value as it is now. */
  authorization(): Promise<string>
  /** A value to try instead of one that CI refused with 401, or null when there is no other. */
  renewed(refused: string): Promise<string | null>
  /** Texts that no error may show. */
  secrets(): readonly string[]
}

/** The configured header value, as it is. */
export const staticAuth = (authorization: string): Auth => ({
  authorization: () => Promise.resolve(authorization),
  renewed: () => Promise.resolve(null),
  secrets: () => [authorization],
})

/**
 * OAuth2 client credentials (RFC 6749, 4.4). However many calls need a token at once, one request gets it; it is renewed
 * before it ends and after CI refused it. Throws a CiError whose code begins with `CI_TOKEN_`.
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

/** A v2 request before it has its `Authorization`; its secrets are those of its body. */
export type UnauthorizedRequest = Omit<CiRequest, 'secrets'> & { secrets?: readonly string[] }

/** Sends a v2 request with its `Authorization`; after a 401 once more with a renewed one, since a 401 has done nothing. */
export async function sendAuthorized(
  { auth, transport }: { auth: Auth; transport: Transport },
  request: UnauthorizedRequest,
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

// The token's request goes on for the others when one caller has lost patience. That caller's own request was not sent, or
// was refused with 401.
async function unlessAborted<T>(flight: Promise<T>, purpose: string, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return flight
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(abortReason(signal, { purpose, isUndone: true }))
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  return Promise.race([aborted.promise, flight]).finally(() => signal.removeEventListener('abort', abort))
}
