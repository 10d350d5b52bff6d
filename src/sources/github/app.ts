import { sign } from 'node:crypto'
import * as z from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { addressOf, parseHttpUrl, checkedName, isRepositoryName } from '../http/address.ts'
import { CiError } from '../http/errors.ts'
import { readAnswer, type CiRequest } from '../http/exchange.ts'
import type { Transport } from '../http/transport.ts'
import { idDigits, timeMsOrNull } from '../values.ts'

export interface GithubApp {
  id: string
  /** PEM */
  privateKey: string
}

export interface GithubTokens {
  of(repository: string): Promise<string>
  /** Drops a token that GitHub refused. */
  forget(repository: string): void
}

/** A token lasts an hour, and is renewed this long before its end. */
const RENEW_BEFORE_MS = 60_000

interface Token {
  token: string
  renewAt: number
}

/** The tokens of a GitHub App: one for all repositories of an owner's installation. Source: GitHub REST API, "Apps". */
export function appTokens(
  app: GithubApp,
  { apiUrl, transport, clock }: { apiUrl: string; transport: Transport; clock: Clock },
): GithubTokens {
  const base = parseHttpUrl(apiUrl)
  const byOwner = new Map<string, Promise<Token>>()
  const ownerOf = (repository: string) => repository.split('/')[0]!.toLowerCase()

  async function ask<T>(method: CiRequest['method'], segments: readonly string[], schema: z.ZodType<T>): Promise<T> {
    const purpose = 'get a token for a repository'
    const jwt = jwtOf(app, clock.now())
    const headers = { 'user-agent': 'buildline', authorization: `Bearer ${jwt}` }
    const request = { method, url: addressOf(base, segments), headers, purpose, secrets: [jwt], followsMoves: true }
    try {
      const answer = await transport.send(request)
      return readAnswer(answer, purpose, (json) => schema.safeParse(json).data ?? null)
    } catch (error) {
      if (!(error instanceof CiError)) throw error
      // The call that needed the token was not sent.
      const { kind, status, reason, retryAfterMs } = error
      const details = { kind, purpose, status, reason, retryAfterMs }
      throw new CiError({ ...details, source: 'CI_TOKEN', isUndone: true, cause: error })
    }
  }

  async function made(repository: string): Promise<Token> {
    const { id } = await ask(
      'GET',
      ['repos', ...checkedName(repository, isRepositoryName).split('/'), 'installation'],
      INSTALLATION,
    )
    const { token, expires_at: endsAt } = await ask('POST', ['app', 'installations', id, 'access_tokens'], TOKEN)
    return { token, renewAt: (endsAt ?? clock.now()) - RENEW_BEFORE_MS }
  }

  return {
    async of(repository) {
      const owner = ownerOf(repository)
      const last = byOwner.get(owner)
      const known = await last?.catch(() => null)
      if (known && clock.now() < known.renewAt) return known.token
      // Concurrent callers share one promise.
      if (byOwner.get(owner) === last) byOwner.set(owner, made(repository))
      return (await byOwner.get(owner)!).token
    },
    forget: (repository) => void byOwner.delete(ownerOf(repository)),
  }
}

const INSTALLATION = z.object({ id: idDigits })
const TOKEN = z.object({ token: z.string().regex(/^[\x21-\x7e]+$/), expires_at: timeMsOrNull })

/** Dated a minute back, in case GitHub's clock is behind. GitHub accepts a lifetime of ten minutes at most. */
function jwtOf({ id, privateKey }: GithubApp, nowMs: number): string {
  const nowS = Math.floor(nowMs / 1_000)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const unsigned = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ iat: nowS - 60, exp: nowS + 540, iss: id })}`
  return `${unsigned}.${sign('sha256', Buffer.from(unsigned), privateKey).toString('base64url')}`
}
