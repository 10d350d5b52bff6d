import { createBadgeClient } from '../../../src/sources/ci-service/badge.ts'
import { createClientLegacy } from '../../../src/sources/ci-service/client-legacy.ts'
import { createClientV2 } from '../../../src/sources/ci-service/client-v2.ts'
import { staticAuth, type Auth } from '../../../src/sources/ci-service/auth.ts'
import { CiError, type CiErrorKind } from '../../../src/sources/http/errors.ts'
import { createTransport, type TransportLimits } from '../../../src/sources/http/transport.ts'
import { isIdDigits, type BuildId, type ProjectId } from '../../../src/domain/ids.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import type { SandboxCi } from '../../../packages/sandbox-ci/src/server.ts'

export const ORGANIZATION = '0a000000-0000-0000-0000-000000000001'

/** The uuid of project n; like the uuids of CI, it does not follow the RFC. */
export const uuidOf = (n: number): string => `f0000000-0000-0000-0000-${String(n).padStart(12, '0')}`

export function projectIdOf(digits: string): ProjectId {
  assertProjectId(digits)
  return digits
}

function assertProjectId(digits: string): asserts digits is ProjectId {
  if (!isIdDigits(digits)) throw new Error(`no project id: ${digits}`)
}

export function buildIdOf(digits: string): BuildId {
  assertBuildId(digits)
  return digits
}

function assertBuildId(digits: string): asserts digits is BuildId {
  if (!isIdDigits(digits)) throw new Error(`no build id: ${digits}`)
}

export const project = (n: number, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  uuid: uuidOf(n),
  name: `acme/web-${n}`,
  type: 'basic',
  ...more,
})

export const projects = (from: number, to: number): Record<string, unknown>[] =>
  Array.from({ length: to - from + 1 }, (_, at) => project(from + at))

/** The forms in which CI refuses branches that it cannot read, and what our error says about each. */
export const REFUSAL_FORMS = [
  ['errors', /branches/],
  ['error', /branches/],
  ['text', /branches/],
  ['html', /HTTP 400\)$/],
  ['empty', /HTTP 400\)$/],
] as const

export interface TestClock extends Clock {
  /** all sleeps so far, in order */
  slept: number[]
  advance(ms: number): void
}

/** A clock whose sleeps end at once and move the clock on. */
export function createTestClock(startsAt = Date.UTC(2026, 0, 5, 12)): TestClock {
  let at = startsAt
  const slept: number[] = []
  return {
    slept,
    now: () => at,
    advance: (ms) => void (at += ms),
    sleep(ms) {
      slept.push(ms)
      at += ms
      return Promise.resolve()
    },
  }
}

export function createTestTransport({ clock = createTestClock(), limits = {}, retried }: TransportOptions = {}) {
  return createTransport({ clock, random: () => 0, limits, ...(retried ? { retried } : {}) })
}

interface TransportOptions {
  clock?: Clock
  limits?: Partial<TransportLimits>
  retried?: (why: CiErrorKind) => void
}

export function createTestClientV2(
  baseUrl: string,
  options: TransportOptions & { auth?: Auth; organizationUuid?: string } = {},
) {
  const { auth = staticAuth('Bearer stub'), organizationUuid = ORGANIZATION } = options
  return createClientV2({ baseUrl, organizationUuid, auth, transport: createTestTransport(options) })
}

/** A client for a running sandbox. */
export function createSandboxClient(ci: SandboxCi, options: Parameters<typeof createTestClientV2>[1] = {}) {
  const { baseUrl, organizationUuid, authorization } = ci.address()
  return createTestClientV2(baseUrl, { auth: staticAuth(authorization), organizationUuid, ...options })
}

export function createTestClientLegacy(baseUrl: string, options: TransportOptions & { apiKey?: string } = {}) {
  const { apiKey = 'stub-key' } = options
  return createClientLegacy({ baseUrl, apiKey, transport: createTestTransport(options) })
}

export function createTestBadgeClient(siteUrl: string, options: TransportOptions = {}) {
  return createBadgeClient({ siteUrl, transport: createTestTransport(options) })
}

/** The CiError that a call ends with; any other end fails the test. */
export async function ciErrorOf(call: Promise<unknown>): Promise<CiError> {
  const error: unknown = await call.then(
    () => new Error('the call succeeded'),
    (reason: unknown) => reason,
  )
  if (error instanceof CiError) return error
  throw error
}
