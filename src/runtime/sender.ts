import type { ReconcileDeps } from '../alerts/deps.ts'
import type { Term } from '../alerts/send/lease.ts'
import { createReconciler, type Reconciler, type Work } from '../alerts/reconciler.ts'
import type { Job } from '../features/kit/feature.ts'
import { scheduleJobs, type ScheduleDeps } from './schedule.ts'

/** A database that cannot be reached at the start of a term is asked again after this time. */
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
    const stopListening = store.news?.listen(reconciler.wake)
    const scheduled = scheduleJobs(jobs(), { store, clock, log, count: countJob })
    if (!over.aborted) await new Promise((resolve) => over.addEventListener('abort', resolve, { once: true }))
    if (current === reconciler) current = null
    await Promise.all([reconciler.stop(), scheduled.stop(), stopListening?.()])
  }

  async function start(reconciler: Reconciler, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      try {
        return await reconciler.start()
      } catch (error) {
        if (!store.shared) throw error
        log.warn({ err: error }, 'sending could not begin; it is tried again')
        await clock.sleep(AGAIN_MS, over)
      }
    }
  }

  return {
    /** Ingests, sends and runs jobs until the term is over or the process stops. */
    serve: (term: Term): void => void (serving = serve(term)),
    /** There is news: this process ingests it, or tells the one that does. */
    wake(): void {
      if (current) current.wake()
      else store.news?.announce()
    },
    /** Why nothing is being sent from here; null: Slack can be reached, or another process sends. */
    outage: (): string | null => current?.outage() ?? null,
    /** What fails again and again here; nothing if another process sends. */
    failing: (): readonly Work[] => current?.failing() ?? [],
    /** Resolves when what the last term began has ended. */
    ended: (): Promise<void> => serving.catch(() => {}),
  }
}
