import type { Clock } from '../../src/lib/clock.ts'
import type { DoctorDeps } from '../../src/features/doctor/findings.ts'

/** Dependencies of a doctor that is never used: everything is missing. */
export const absentDoctor = (clock: Clock): DoctorDeps => ({
  clock,
  log: { warn: () => {} },
  slack: {
    identity: async () => ({ kind: 'away', code: 'timeout' }),
    channel: async () => ({ kind: 'away', code: 'timeout' }),
    socket: null,
  },
  scopesNeeded: [],
  subscriptions: async () => [],
  fixed: [],
  namesWithoutSource: async () => [],
  store: null,
  usesCi: true,
  v2: null,
  legacy: null,
  badges: null,
  wrongSignatures: async () => 0,
  socketTrouble: async () => null,
  isOurs: () => false,
  hosts: { github: null, gitlab: null },
  freeBytes: null,
})
