import { fileURLToPath } from 'node:url'
import { LOAD_CORE, runToEnd } from './processes.ts'

/** What strangers do; each is a function of that name in attack.ts. */
export type AttackKind =
  | 'wrong secrets'
  | 'idle and slow sockets'
  | 'large bodies'
  | 'deep bodies'
  | 'gzip bombs'
  | 'header floods'
  | 'unsigned bodies for Slack'
  | 'replays'

export interface Attack {
  kind: AttackKind
  port: number
  /** the address that takes deliveries */
  path: string
  signingSecret: string
  /** until it is over, or after so many requests */
  forMs: number
  count?: number
}

export interface AttackResult {
  /** how often each answer came; 0: the connection ended without one */
  answers: Record<string, number>
  /** when the last connection was closed, where that is what counts (ms from the start) */
  cutAfterMs: number
}

const ATTACK = fileURLToPath(new URL('attack.ts', import.meta.url))

/** Runs an attack from a process of its own. */
export const sendAttack = async (attack: Attack): Promise<AttackResult> =>
  JSON.parse(await runToEnd(ATTACK, [JSON.stringify(attack)], LOAD_CORE)) as AttackResult
