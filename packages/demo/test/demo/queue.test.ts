import { describe, expect, it } from 'vitest'
import { askQueue, readQueue, waitingIn } from '../../src/demo/queue.ts'

const METRICS = ['ingest', 'post', 'edit', 'look'].map((queue, n) => `buildline_backlog{queue="${queue}"} ${n}`)

describe('the queue', () => {
  it("is read from the bot's own metrics", () => {
    const queue = readQueue(['# HELP buildline_backlog What waits', ...METRICS].join('\n'))
    expect(queue).toEqual({ ingest: 0, post: 1, edit: 2, look: 3 })
    expect(waitingIn(queue!)).toBe(6)
  })

  it.each(METRICS)('is not known without %s', (line) => {
    expect(readQueue(METRICS.filter((other) => other !== line).join('\n'))).toBeNull()
  })

  it('is not known of a bot that is not there', async () => {
    expect(await askQueue(9)).toBeNull()
  })
})
