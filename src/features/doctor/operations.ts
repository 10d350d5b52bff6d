import { singleFlight } from '../../lib/single-flight.ts'
import type { ActDeps } from '../builds/deed.ts'
import type { DoctorOutcome } from './asked.ts'
import type { DoctorDeps } from './deps.ts'
import { examine } from './examine.ts'

/** Concurrent callers share one examination. */
export function doctorOperations(deps: DoctorDeps & Pick<ActDeps, 'permits'>) {
  const examineOnce = singleFlight(() => examine(deps))
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
