import { systemClock, type Clock } from '../../src/lib/clock.ts'

/** A time that has run so many times as fast as the real one since a moment (ms since the epoch), in each process. */
export interface FastTime {
  since: number
  times: number
}

/** The environment variable with this time for the process under test. */
export const FAST_TIME = 'FAST_TIME'

export const toText = ({ since, times }: FastTime): string => `${since} ${times}`

export function fromText(text: string): FastTime {
  const [since = Number.NaN, times = Number.NaN] = text.split(' ').map(Number)
  if (!(since > 0 && times > 0)) throw new Error(`${FAST_TIME} is no time: ${text}`)
  return { since, times }
}

// Saved here, so that a later replacement of `Date.now` does not change it.
const realNow = Date.now.bind(Date)
const { sleep } = systemClock

export const fastClock = ({ since, times }: FastTime): Clock => ({
  now: () => Math.floor(since + (realNow() - since) * times),
  sleep: (ms, signal) => sleep(ms / times, signal),
})
