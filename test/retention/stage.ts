import { prune, type Pruned } from '../../src/retention/retention.ts'
import { openStage, type Stage } from '../alerts/stage.ts'
import type { Said } from '../support/build-events.ts'

export const DAY = 24 * 60 * 60_000
export const RETENTION_DAYS = 90

/** Every table with rows about builds. */
const TABLES = ['delivery', 'fact', 'decision', 'card', 'message', 'build', 'request'] as const

/** A commit for each build: 40 hex digits. */
export const commitOf = (build: string): string => build.padStart(40, '0')

/** An event of a build with its own commit. */
export const of = (build: string, word: string, said: Partial<Said> = {}): Said => ({
  build,
  word,
  commit: commitOf(build),
  ...said,
})

/** Receives these events, with time to ingest and send, and then stops the process. */
export async function tell(stage: Stage, ...said: readonly Said[]): Promise<void> {
  for (const one of said) await stage.hear(one)
  const { reconciler } = await stage.live()
  await stage.clock.advance(30_000)
  const stopped = reconciler.stop()
  await stage.clock.advance(10)
  await stopped
}

export interface Pruning {
  retentionDays?: number
  isPressed?: () => boolean
  signal?: AbortSignal
}

/** Runs retention, and advances the clock as far as it needs. */
export async function pruneNow(stage: Stage, pruning: Pruning = {}): Promise<Pruned> {
  const {
    retentionDays = RETENTION_DAYS,
    isPressed: hasWaitingDeliveries = () => false,
    signal = new AbortController().signal,
  } = pruning
  const { store, clock } = stage
  const state = { isDone: false }
  const done = prune({ store, clock, log: MUTE, retentionDays, hasWaitingDeliveries }, signal).finally(
    () => (state.isDone = true),
  )
  while (!state.isDone) await clock.advance(1)
  return done
}

const MUTE = { debug() {}, info() {}, warn() {}, error() {} }

/** The number of rows in each table. */
export const left = (stage: Stage): Record<string, unknown> =>
  Object.fromEntries(
    TABLES.map((table) => [table, Object.values(stage.sql(`select count(*) from ${table}`)[0] as object)[0]]),
  )

/** The builds that still have events, by number. */
export const buildsLeft = (stage: Stage): string[] =>
  (stage.sql('select distinct build_id, build_order from fact order by build_order') as { build_id: string }[]).map(
    ({ build_id: build }) => build,
  )

export { openStage, type Stage }
