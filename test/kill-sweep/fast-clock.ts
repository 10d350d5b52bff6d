import { systemClock, type Clock } from '../../src/lib/clock.ts'

/** A time that runs so many times as fast as the real one since a moment (ms since the epoch), for whoever knows both. */
export interface FastTime {
  since: number
  times: number
}

/** Where the process under test is told of it. */
export const FAST_TIME = 'FAST_TIME'

export const toText = ({ since, times }: FastTime): string => `${since} ${times}`

export function fromText(text: string): FastTime {
  const [since = Number.NaN, times = Number.NaN] = text.split(' ').map(Number)
  if (!(since > 0 && times > 0)) throw new Error(`${FAST_TIME} is no time: ${text}`)
  return { since, times }
}

// Whoever puts another `Date.now` in its place still counts from the real one.
const realNow = Date.now.bind(Date)
const { sleep } = systemClock

export const fastClock = ({ since, times }: FastTime): Clock => ({
  now: () => Math.floor(since + (realNow() - since) * times),
  sleep: (ms, signal) => sleep(ms / times, signal),
})
