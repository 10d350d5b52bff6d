import { setTimeout as sleep } from 'node:timers/promises'
import { WEBHOOKS, worstBody } from '../support/worst-bodies.ts'
import type { SentBodies, WorstBodies } from './worst-bodies.ts'

// Senders that know the secret, a process of their own: takes one order as its argument, prints one result.

const AT_ONCE = 8
const PAUSE_MS = 5

const { port, name, field, shape, forMs } = JSON.parse(process.argv[2]!) as WorstBodies
const webhook = WEBHOOKS.find((one) => one.name === name)!
const body = Buffer.from(worstBody(webhook, field, shape))
const headers = { 'content-type': 'application/json', ...webhook.headers(body.toString()) }
const answers: Record<string, number> = {}
const endsAt = performance.now() + forMs

async function sendAgain(): Promise<void> {
  while (performance.now() < endsAt) {
    const response = await fetch(`http://127.0.0.1:${port}${webhook.path}`, { method: 'POST', headers, body })
    await response.text()
    answers[response.status] = (answers[response.status] ?? 0) + 1
    await sleep(PAUSE_MS)
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, sendAgain))
process.stdout.write(JSON.stringify({ answers } satisfies SentBodies))
process.exit(0)
