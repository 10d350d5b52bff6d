import type { WebClient } from '@slack/web-api'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Seal } from '../lib/seal.ts'
import type { Operations } from './operations.ts'
import type { Answer } from '../slack/messages/answer.ts'
import type { Homes } from './home/watch.ts'
import type { Kept } from './pending-interaction.ts'
import type { Newest } from './newest.ts'

/** What the door for Slack stands on. */
export interface Door {
  operations: Operations
  /** asks once: a repeated post would be seen twice */
  client: WebClient
  clock: Clock
  log: Log
  /** a short id that an answer and its log line share */
  newReference: () => string
  /** of several choices in one modal, which came last */
  newest: Newest
  /** for what a form remembers and nobody shall read */
  seal: Seal
  /** what people have open as App Home */
  homes: Homes
  /** this one ask, as it is written down; null: nobody waits for an answer */
  kept: Kept | null
}

/** What an asker gets, and how the log calls it. */
export interface Reply {
  /** null: it is shown already, in a modal */
  answer: Answer | null
  outcome: string
}
