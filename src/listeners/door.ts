import type { WebClient } from '@slack/web-api'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Operations } from '../operations/asked.ts'
import type { Answer } from './answers/answer.ts'
import type { Newest } from './views/newest.ts'

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
}

/** What an asker gets, and how the log calls it. */
export interface Reply {
  answer: Answer
  outcome: string
}
