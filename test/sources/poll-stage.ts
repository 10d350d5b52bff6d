import { onTestFinished } from 'vitest'
import { recordLookedUp } from '../../src/alerts/record/record.ts'
import type { Log } from '../../src/lib/log.ts'
import { createPoll, type PolledSource } from '../../src/sources/poll.ts'
import { createHandClock } from '../support/hand-clock.ts'
import { sqlitePlaces } from '../support/stores.ts'

/** A store and a clock for a polled source; both are closed after the test. */
export async function openPollStage(now: number) {
  const places = await sqlitePlaces()
  const { store } = await places.open()
  onTestFinished(async () => {
    await store.close()
    await places[Symbol.asyncDispose]()
  })
  const clock = createHandClock(now)
  const recording = { store, clock }
  const warned: unknown[] = []
  const informed: unknown[] = []
  const log: Pick<Log, 'warn' | 'info'> = {
    warn: (...said: unknown[]) => void warned.push(said),
    info: (...said: unknown[]) => void informed.push(said),
  }
  /** Starts a poll as in a new process: the past of earlier processes is only in the store. */
  function begin(polled: PolledSource): () => Promise<void> {
    const poll = createPoll(
      { store, clock, log: log as Log, record: (build, origin) => recordLookedUp(recording, build, origin) },
      polled,
    )
    return () => poll(new AbortController().signal)
  }
  return { store, clock, recording, warned, informed, begin }
}
