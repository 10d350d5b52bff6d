import { systemClock } from '../../src/lib/clock.ts'
import { FAST_TIME, fastClock, fromText } from './fast-clock.ts'

// Loaded before the bot: its clock runs faster than the world's, as those of the sandboxes beside it do. So Slack's
// limits hold between them, and a sweep of an hour takes minutes. The time that libraries wait stays what it is.
const time = fromText(process.env[FAST_TIME] ?? '')
const clock = fastClock(time)
const running = performance.now.bind(performance)
Object.assign(systemClock, clock)
Date.now = clock.now
performance.now = () => running() * time.times
