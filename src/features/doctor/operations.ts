import { singleFlight } from '../../lib/single-flight.ts'
import type { ActDeps } from '../builds/deed.ts'
import type { DoctorOperations } from './asked.ts'
import type { DoctorDeps } from './deps.ts'
import { examine } from './examine.ts'

/** What people can ask of the doctor: one examination at a time, whoever asks. */
export function doctorOperations(deps: DoctorDeps & Pick<ActDeps, 'permits'>): DoctorOperations {
  const examineOnce = singleFlight(() => examine(deps))
  return {
    async examine(by) {
      const permit = await deps.permits('administer', by)
      if (permit.kind === 'no') return { kind: 'forbidden', permit }
      if (permit.kind === 'unknown-person') return permit
      return examineOnce()
    },
  }
}
