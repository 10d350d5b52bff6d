import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

// A process of its own: asks the port in its first argument for as long as its second one says, prints the longest time.

const PAUSE_MS = 2
const [port, forMs] = process.argv.slice(2).map(Number)
const agent = new Agent({ keepAlive: true })
const until = performance.now() + forMs!
let longestMs = 0
while (performance.now() < until) {
  const beganAt = performance.now()
  await ask()
  longestMs = Math.max(longestMs, performance.now() - beganAt)
  await sleep(PAUSE_MS)
}
process.stdout.write(String(longestMs))
process.exit(0)

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = get({ port, host: '127.0.0.1', path: '/healthz', agent }, (response) => {
      response.resume().once('end', resolve)
    })
    asked.once('error', reject)
  })
}
