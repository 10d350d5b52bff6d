import type { Permits } from '../../projects/outcomes.ts'
import { singleFlight } from '../../lib/async.ts'
import { CiError } from '../../sources/http/errors.ts'
import {
  notChecked,
  type Check,
  type DoctorDeps,
  type Examination,
  type Finding,
  IN_SLACK,
  type Say,
} from '../kit/check.ts'
import type { Permit } from '../../slack/api/permission.ts'

/** Concurrent callers share one examination. */
export function doctorOperations(deps: DoctorDeps & { checks: () => readonly Check[]; permits: Permits }) {
  const examineOnce = singleFlight(() => examine(deps, IN_SLACK, deps.checks()))
  return {
    /** Examines everything that can be misconfigured. For admins only: it names private channels. */
    async examine(by: { user: string; team: string | null }): Promise<DoctorOutcome> {
      const permit = await deps.permits('administer', by)
      if (permit.kind === 'no') return { kind: 'forbidden', permit }
      if (permit.kind === 'unknown-person') return permit
      return examineOnce()
    },
  }
}

/** A check that takes longer is reported as not checked. */
export const CHECK_WITHIN_MS = 5_000

/** Runs these checks at once. Resolves within CHECK_WITHIN_MS even if a check hangs. Never throws. */
export async function examine(deps: DoctorDeps, say: Say, checks: readonly Check[]): Promise<Examined> {
  const { clock } = deps
  const end = new AbortController()
  const beganAt = clock.now()
  const examination = beginExamination(deps, say, end.signal)
  const late = clock.sleep(CHECK_WITHIN_MS, end.signal)
  const found = checks
    .filter(({ isOfCi }) => !isOfCi || usesCi(deps))
    .map(async (check) => {
      const { name, title } = check
      const findings = (await Promise.race([foundBy(check, examination), late])) ?? [lateFinding(check)]
      return findings.map((finding) => ({ name, title, ...finding }))
    })
  const findings = (await Promise.all(found)).flat()
  end.abort()
  return { kind: 'findings', findings, tookMs: clock.now() - beganAt }
}

/** False: GitHub or GitLab is set up, and the CI service is not. */
const usesCi = ({ github, gitlab, v2, legacy, badges, webhookSecrets }: DoctorDeps): boolean =>
  (!github && !gitlab) || v2 !== null || legacy !== null || badges !== null || webhookSecrets.length > 0

async function foundBy(check: Check, examination: Examination): Promise<Finding[]> {
  try {
    return await check.run(examination)
  } catch (error) {
    // An aborted check may fail in any way, so its error is not logged.
    if (!examination.signal.aborted)
      examination.log.warn({ err: error, check: check.name }, 'a check of the doctor failed')
    return [notChecked('Buildline had an error; the log has the details')]
  }
}

const lateFinding = ({ calls, isVital }: Check): Finding => ({
  ...notChecked(`${calls} did not answer in 5 s`),
  ...(isVital && { verdict: 'wrong' }),
})

function beginExamination(deps: DoctorDeps, say: Say, signal: AbortSignal): Examination {
  const { slack, v2, legacy } = deps
  return {
    ...deps,
    say,
    signal,
    identity: once(() => slack.identity()),
    projects: once(async () => v2 && orCiError(v2.listProjects({}, signal))),
    legacyProjects: once(async () => legacy && orCiError(legacy.listProjects(signal))),
  }
}

function once<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let promise: Promise<Value> | null = null
  return () => (promise ??= ask())
}

const orCiError = <Value>(asked: Promise<Value>): Promise<Value | CiError> =>
  asked.catch((error: unknown) => {
    if (error instanceof CiError) return error
    throw error
  })

export type Found = Finding & Pick<Check, 'name' | 'title'>

export interface Examined {
  kind: 'findings'
  /** in the order of the checks */
  findings: readonly Found[]
  tookMs: number
}

export type DoctorOutcome =
  | Examined
  | { kind: 'forbidden'; permit: Extract<Permit, { kind: 'no' }> }
  | { kind: 'unknown-person'; code: string }
