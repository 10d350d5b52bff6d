import { describe, expect, it } from 'vitest'
import { playing, restart } from './restart.ts'
import { openStub } from './support.ts'

describe('service_restart_build', () => {
  it('waits 10 s for the answer to the restart, and then calls the restart unclear', async () => {
    const stub = await openStub(playing({ restart: () => undefined }))
    const before = performance.now()
    const { code, stderr } = await restart({ SERVICE_API_URL: stub.url })
    expect(performance.now() - before).toBeGreaterThanOrEqual(10_000)
    expect([code, stderr]).toEqual([69, expect.stringContaining('unclear (no answer in time)')])
    expect(stub.requests.map(({ method }) => method)).toEqual(['GET', 'POST'])
  })

  it('respects a Retry-After of 10 s, and gives up at one of 11 s', async () => {
    const asked = async (retryAfter: string) => {
      const busy = { status: 429, headers: { 'retry-after': retryAfter } }
      const stub = await openStub((_, at) => (at === 0 ? busy : { status: 404 }))
      const { code } = await restart({ SERVICE_API_URL: stub.url })
      return [code, stub.requests.length]
    }
    expect(await Promise.all([asked('10'), asked('11')])).toEqual([
      [66, 2],
      [1, 1],
    ])
  })
})
