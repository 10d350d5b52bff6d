import type { ClientV2 } from '../../sources/ci-service/client-v2.ts'
import type { ActDeps } from '../builds/deed.ts'

export interface ProjectDeps extends Pick<
  ActDeps,
  'store' | 'clock' | 'log' | 'newId' | 'processId' | 'interfaces' | 'permits'
> {
  /** CI's v2 interface; null: not configured */
  ci: Pick<ClientV2, 'listProjects' | 'getProject' | 'createProject' | 'updateProject' | 'resetAesKey'> | null
  /** what digests of values are made with, the same after a restart: whoever sees a digest must not be able to try values */
  digestKey: string
}
