import { createHash, timingSafeEqual } from 'node:crypto'
import { refuse } from './errors.ts'
import type { Call, Reply } from '../../lib/http.ts'
import type { Scope, Token } from './state.ts'
import type { World } from './world.ts'

/** The error response for a caller without access; undefined if access is granted. */
export type Door = Reply | undefined

/** Checks a v2 call: 401 without a valid token, 404 for an unknown organization, 403 without access or scope. */
export function checkToken(world: World, call: Call, organizationUuid: string, scope: Scope | 'any'): Door {
  const token = findToken(world, call.headers.authorization)
  if (!token) return refuse(world.switches, 401, 'the Authorization header is missing or not valid')
  if (!world.state.organizations.some(({ uuid }) => uuid === organizationUuid)) {
    return refuse(world.switches, 404, 'no such organization')
  }
  if (token.organizationUuid !== organizationUuid) return refuse(world.switches, 403, 'not your organization')
  if (scope !== 'any' && !token.scopes.includes(scope))
    return refuse(world.switches, 403, `the scope ${scope} is missing`)
  return undefined
}

/** Checks a call of the legacy interface: 401 without the account's key. */
export function checkApiKey(world: World, call: Call): Door {
  if (isSameSecret(call.query.get('api_key') ?? '', world.state.apiKey)) return undefined
  return refuse(world.switches, 401, 'the api_key is missing or not valid')
}

function findToken(world: World, authorization: string | undefined): Token | undefined {
  const value = tokenIn(authorization ?? '', world.switches.authorizationForm)
  if (value === '') return undefined
  // Compares every token, so that the response time does not reveal which one matches.
  const same = world.state.tokens.filter((token) => isSameSecret(token.value, value))
  return same.find(({ expiresAt }) => expiresAt === null || world.clock.now() < expiresAt)
}

function tokenIn(authorization: string, form: 'any' | 'bearer' | 'bare'): string {
  const bearer = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
  if (form === 'bearer') return bearer ?? ''
  return form === 'bare' ? authorization : (bearer ?? authorization)
}

/** Compares in constant time. Hashing gives both the same length, which `timingSafeEqual` requires. */
export const isSameSecret = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

const digest = (text: string) => createHash('sha256').update(text).digest()
