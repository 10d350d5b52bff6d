import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

// Loaded into a process before its own code: on SIGUSR2 it writes for how long its event loop was held at most since the
// last time (ms), to the file that LOOP_DELAY_FILE names.

const NS_PER_MS = 1e6
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
process.on('SIGUSR2', () => {
  writeFileSync(
    process.env['LOOP_DELAY_FILE']!,
    JSON.stringify({ at: performance.now(), heldMs: delay.max / NS_PER_MS }),
  )
  delay.reset()
})
