import type { ReconcileDeps } from '../alerts/deps.ts'
import type { Term } from '../alerts/send/lease.ts'
import { createReconciler, type Reconciler, type Work } from '../alerts/reconciler.ts'
import type { Job } from '../features/kit/feature.ts'
import { createSchedule, type ScheduleDeps } from './schedule.ts'

/** Retry interval if the database cannot be reached at the start of a term. */
const AGAIN_MS = 1_000

interface SenderDeps extends Omit<ReconcileDeps, 'term'> {
  jobs: () => readonly Job[]
  countJob: ScheduleDeps['count']
  /** aborts when the process stops */
  stopping: AbortSignal
}

export type Sender = ReturnType<typeof createSender>

/** What only one process does at a time: ingest, send and run the jobs. */
export function createSender({ jobs, countJob, stopping, ...deps }: SenderDeps) {
  const { store, clock, log } = deps
  let current: Reconciler | null = null
  let serving: Promise<void> = Promise.resolve()

  async function serve(term: Term): Promise<void> {
    const over = AbortSignal.any([term.over, stopping])
    const reconciler = createReconciler({ ...deps, term })
    await start(reconciler, over)
    current = reconciler
    const schedule = createSchedule(jobs(), { store, clock, log, count: countJob })
    const checking = schedule.start()
    const stopListening = store.listen((news) => {
      reconciler.wake(news)
      schedule.heard()
    })
    if (!over.aborted) await new Promise((resolve) => over.addEventListener('abort', resolve, { once: true }))
    if (current === reconciler) current = null
    await Promise.all([reconciler.stop(), schedule.stop(), checking, stopListening()])
  }

  async function start(reconciler: Reconciler, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      try {
        return await reconciler.start()
      } catch (error) {
        if (!store.shared) throw error
        log.warn({ err: error }, 'sending could not start; trying again')
        await clock.sleep(AGAIN_MS, over)
      }
    }
  }

  return {
    /** Ingests, sends and runs jobs until the term is over or the process stops. */
    serve: (term: Term): void => void (serving = serve(term)),
    /** Why this process sends nothing; null: Slack can be reached, or another process sends. */
    outage: (): string | null => current?.outage() ?? null,
    /** What keeps failing here; nothing if another process sends. */
    failing: (): readonly Work[] => current?.failing() ?? [],
    /** Resolves when the work of the last term has ended. */
    ended: (): Promise<void> => serving.catch(() => {}),
  }
}
