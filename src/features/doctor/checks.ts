import type { CheckName, Finding, Found, Verdict } from './asked.ts'
import { checkChannels } from './check-channels.ts'
import { checkLegacy, checkSite, checkV2, checkV2Scopes } from './check-ci.ts'
import { checkSilent } from './check-silent.ts'
import { checkClock, checkScopes, checkSocket, checkToken } from './check-slack.ts'
import { checkStore } from './check-store.ts'
import { checkWebhookRules } from './check-webhooks.ts'
import type { Examination } from './readings.ts'

/** At least one finding. What it throws is a fault of ours. */
export type Check = (examination: Examination) => Promise<Found[]>

/** THE table: each thing that can be misconfigured, and who looks at it. */
export const CHECK_OF: Record<CheckName, Check> = {
  'slack-token': checkToken,
  'slack-scopes': checkScopes,
  'socket-mode': checkSocket,
  clock: checkClock,
  channels: checkChannels,
  'ci-v2': checkV2,
  'ci-v2-scopes': checkV2Scopes,
  'ci-legacy': checkLegacy,
  site: checkSite,
  'webhook-rules': checkWebhookRules,
  'silent-projects': checkSilent,
  store: checkStore,
}

/**
 * What a finding means: CI's bad minute is nobody's mistake, and what was never heard of may never have built. Without
 * Slack or the database nothing works, whoever's mistake it is.
 */
export function verdictOf({ check, what: found }: Pick<Finding, 'check' | 'what'>): Verdict {
  if (found.kind === 'slack-away') return BUSY.has(found.code) ? 'unsure' : 'wrong'
  if (found.kind === 'not-checked') return found.why === 'late' && VITAL.has(check) ? 'wrong' : 'unsure'
  if (found.kind === 'ci-refuses') return PASSING.has(found.code) ? 'unsure' : 'wrong'
  if (found.kind === 'silent-project') return found.lastAt === null && found.builtAt === null ? 'unsure' : 'wrong'
  return VERDICTS[found.kind] ?? 'wrong'
}

/** All that is not simply wrong. */
const VERDICTS: Partial<Record<Found['kind'], Verdict>> = {
  fine: 'fine',
  'over-http': 'fine',
  'not-configured': 'off',
  'projects-unread': 'unsure',
}

const PASSING: ReadonlySet<string> = new Set(['timeout', 'server', 'rate-limited'])

/** Slack answers, but not now. */
const BUSY: ReadonlySet<string> = new Set(['ratelimited', 'rate_limited'])

/** Of these no answer is an answer. */
const VITAL: ReadonlySet<CheckName> = new Set(['slack-token', 'store'])
