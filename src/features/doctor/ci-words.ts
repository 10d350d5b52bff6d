import type { CiErrorKind } from '../../sources/http/errors.ts'
import type { CheckName, Found } from './findings.ts'
import type { FindingWords, Say } from './say.ts'

/** What a refusal of CI's means, and what to do about it. */
export function ciWords(
  check: CheckName,
  { code, scope }: Extract<Found, { kind: 'ci-refuses' }>,
  say: Say,
): FindingWords {
  const asked = scope === null ? '' : ` when it was asked for ${say.code(scope)}`
  return { what: `${CI_SAYS[code]}${asked}.`, remedy: ciRemedy(check, code, scope, say) }
}

const CI_SAYS: Record<CiErrorKind, string> = {
  'bad-request': 'CI did not understand the request',
  unauthorized: 'CI does not accept the credentials',
  forbidden: 'The credentials lack the right',
  'not-found': 'CI found nothing at that address',
  'rate-limited': 'CI says there were too many requests',
  server: 'CI had an internal error',
  timeout: 'CI did not answer in time',
  unreachable: 'CI could not be reached',
  shape: "Buildline could not read CI's answer",
  'too-large': "CI's answer was too long",
}

function ciRemedy(check: CheckName, code: CiErrorKind, scope: string | null, say: Say): string {
  const { address, credentials } = SETTINGS[check] ?? V2
  const renewed = credentials.map(say.code).join(' or ')
  if (code === 'unauthorized') return `Renew ${renewed} and restart Buildline.`
  if (code === 'forbidden')
    return scope === null
      ? `Give the owner of ${renewed} access in CI.`
      : `Give the credentials the scope ${say.code(scope)} in CI.`
  if (code === 'not-found' && check === 'ci-v2')
    return `Check ${say.code(address)} and ${say.code('CI_ORGANIZATION_UUID')}.`
  if (code === 'rate-limited' || code === 'server' || code === 'timeout') return 'Try again in a few minutes.'
  return `Check ${say.code(address)}, and that this machine can reach it.`
}

const V2 = { address: 'CI_BASE_URL', credentials: ['CI_AUTHORIZATION', 'CI_CLIENT_SECRET'] }
const SETTINGS: Partial<Record<CheckName, typeof V2>> = {
  'ci-v2': V2,
  'ci-v2-scopes': V2,
  'ci-legacy': { address: 'CI_LEGACY_BASE_URL', credentials: ['CI_API_KEY'] },
  site: { address: 'CI_SITE_URL', credentials: ['CI_SITE_URL'] },
}
