import { singleFlight } from '../../lib/async.ts'
import type { Permits } from '../../catalog/outcomes.ts'
import {
  type DoctorOutcome,
  type DoctorDeps,
  CHECKS,
  type CheckName,
  type Examined,
  type Finding,
  type CheckResult,
  beginExamination,
  type Examination,
  type AppEvent,
  saidName,
} from './findings.ts'
import { webhookRuleFor } from './check-ci.ts'
import { CHECK_OF, verdictOf } from './checks.ts'
import type { Uuid } from '../../domain/ids.ts'

/** Concurrent callers share one examination. */
export function doctorOperations(deps: DoctorDeps & { permits: Permits }) {
  const examineOnce = singleFlight(() => examine(deps))
  return {
    /** Examines everything that can be misconfigured. For admins only: it names private channels. */
    async examine(by: { user: string; team: string | null }): Promise<DoctorOutcome> {
      const permit = await deps.permits('administer', by)
      if (permit.kind === 'no') return { kind: 'forbidden', permit }
      if (permit.kind === 'unknown-person') return permit
      return examineOnce()
    },
    /** Slack says something of the app itself. */
    slackSaid: async (event: AppEvent) =>
      deps.store?.write((tx) => tx.setLastDoneAt(saidName(event), deps.clock.now())),
    /** The webhook rule that a project lacks, with the secret in it: for the edit that adds it. */
    webhookRuleFor: (project: Uuid) => webhookRuleFor(deps, project),
  }
}

/** A check that takes longer is reported as not checked. */
export const CHECK_WITHIN_MS = 5_000

/** Runs all or the named checks at once. Resolves within CHECK_WITHIN_MS even if a check hangs. Never throws. */
export async function examine(deps: DoctorDeps, checks: readonly CheckName[] = CHECKS): Promise<Examined> {
  const { clock } = deps
  const end = new AbortController()
  const beganAt = clock.now()
  const examination = beginExamination(deps, end.signal)
  const late = clock
    .sleep(CHECK_WITHIN_MS, end.signal)
    .then((): CheckResult[] => [{ kind: 'not-checked', why: 'late' }])
  const checked = checks
    .filter((check) => deps.usesCi || !OF_CI.has(check))
    .map(async (check) => findingsOf(check, await Promise.race([foundBy(check, examination), late])))
  const findings = (await Promise.all(checked)).flat()
  end.abort()
  return { kind: 'findings', findings, tookMs: clock.now() - beganAt }
}

/** Left out if only GitHub or GitLab is set up. */
const OF_CI: ReadonlySet<CheckName> = new Set<CheckName>([
  'ci-v2',
  'ci-v2-scopes',
  'ci-legacy',
  'site',
  'webhook-rules',
  'silent-projects',
])

async function foundBy(check: CheckName, examination: Examination): Promise<CheckResult[]> {
  try {
    return await CHECK_OF[check](examination)
  } catch (error) {
    // An aborted check may fail in any way, so its error is not logged.
    if (!examination.signal.aborted) examination.log.warn({ err: error, check }, 'a check of the doctor failed')
    return [{ kind: 'not-checked', why: 'fault' }]
  }
}

// `more` counts findings like the one before it, so it has the same verdict.
const findingsOf = (check: CheckName, results: readonly CheckResult[]): Finding[] =>
  results.map((what, at) => ({
    verdict: verdictOf({ check, what: what.kind === 'more' ? results[at - 1]! : what }),
    check,
    what,
  }))
