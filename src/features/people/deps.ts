import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Presence } from '../../slack/api/directory.ts'
import type { Say } from '../../slack/api/say.ts'
import type { Store } from '../../store/store.ts'
import type { ActDeps } from '../builds/deed.ts'

/** What it takes to know whom a committer's name means. */
export interface PersonDeps {
  store: Store
  clock: Clock
  log: Log
  permits: ActDeps['permits']
  /** asks Slack anew whether this person is in the workspace */
  presenceOf: (user: string) => Promise<Presence>
  say: Say
}
