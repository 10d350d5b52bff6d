import type * as ClockModule from '../../src/lib/clock.ts'
import { FAST_TIME, fastClock, fromText } from './fast-clock.ts'

// Loaded before the bot. The clocks of the bot and the sandboxes run fast together, so Slack's limits hold between
// them, and a sweep of an hour takes minutes. Timers of libraries keep the real time.
// The bundle has a clock of its own.
const { systemClock } = (await import(new URL('../../dist/clock.js', import.meta.url).href)) as typeof ClockModule
const time = fromText(process.env[FAST_TIME] ?? '')
const clock = fastClock(time)
const running = performance.now.bind(performance)
Object.assign(systemClock, clock)
Date.now = clock.now
performance.now = () => running() * time.times
