import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { SlackEndpoint } from './slack-app.ts'

/** Preload Bolt this long after the first post, before anyone could click. */
const CLICKS_AFTER_MS = 500

interface LazySlackEndpointDeps {
  open: () => Promise<SlackEndpoint>
  clock: Clock
  log: Log
  stopping: AbortSignal
}

/**
 * Opens the Slack endpoint when it is first needed, because Bolt is large: with Socket Mode at the start, otherwise
 * after the first post or with the first request.
 */
export function createLazySlackEndpoint({ open: openEndpoint, clock, log, stopping }: LazySlackEndpointDeps) {
  let endpoint: Promise<SlackEndpoint> | null = null
  let expected: Promise<unknown> | null = null

  const open = (): Promise<SlackEndpoint> =>
    (endpoint ??= openEndpoint().then((opened) => {
      log.debug({ part: 'slack' }, 'the Slack endpoint is loaded')
      return opened
    }))

  const failed = (error: unknown): void =>
    log.error({ err: error }, 'the Slack endpoint could not be opened; alerts go on without it')

  return {
    open,
    start: () =>
      open()
        .then((opened) => opened.start(), failed)
        .catch(failed),
    /** Uses the endpoint if it is open. The failure to open it is already logged. */
    async ifOpen(use: (opened: SlackEndpoint) => unknown): Promise<void> {
      const opened = await endpoint?.catch(() => null)
      if (opened) await use(opened)
    },
    /** Preloads, so that the first click is answered as fast as the next. */
    expectClicks: () =>
      void (expected ??= clock
        .sleep(CLICKS_AFTER_MS, stopping)
        .then(() => (stopping.aborted ? null : open()))
        .catch(failed)),
  }
}
