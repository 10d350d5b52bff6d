import type { BadgeClient } from '../../sources/ci-service/badge.ts'
import type { ClientLegacy } from '../../sources/ci-service/client-legacy.ts'
import type { ClientV2 } from '../../sources/ci-service/client-v2.ts'
import type { Subscription } from '../../domain/subscription.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { SlackExaminer } from '../../slack/api/examiner.ts'
import type { Store } from '../../store/store.ts'

export interface DoctorDeps {
  clock: Clock
  log: Pick<Log, 'warn'>
  slack: SlackExaminer
  /** what the manifest asks for */
  scopesNeeded: readonly string[]
  subscriptions: () => Promise<readonly Subscription[]>
  /** null: there is no database yet */
  store: Pick<Store, 'read' | 'write'> | null
  v2: Pick<ClientV2, 'listProjects' | 'updateProject' | 'stopBuild'> | null
  legacy: Pick<ClientLegacy, 'listProjects'> | null
  badges: Pick<BadgeClient, 'fetchBadge'> | null
  /** is the secret in this webhook address one of ours? */
  isOurs: (webhook: URL) => boolean
  /** what is left on the disk that the database is on; null: it is on another machine */
  freeBytes: (() => Promise<number>) | null
}
