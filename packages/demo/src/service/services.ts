import { createSandboxCi } from '../../../sandbox-ci/src/server.ts'
import type { Switches } from '../../../sandbox-ci/src/switches.ts'
import { ciService } from './ci.ts'
import type { Service } from './service.ts'

/** This CI repeats a delivery that was not taken, for about a minute: the bot may be killed and come back meanwhile. */
const REDELIVERY: Partial<Switches> = { deliveryRetriesMax: 8, deliveryRetryMs: 250 }

/** What `--source` names, each with a fresh sandbox. */
export const SERVICES: Record<string, () => Service> = {
  ci: () => ciService(createSandboxCi({ switches: REDELIVERY })),
}
