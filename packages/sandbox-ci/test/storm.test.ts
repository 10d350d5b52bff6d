import { expect, it, vi } from 'vitest'
import { control, readDelivery, startCi, startReceiver } from './support.ts'

it('a storm of 200 builds delivers every status of every build, each build in order', async () => {
  const hook = await startReceiver()
  const ci = await startCi({ webhookUrl: hook.url })
  const answer = await control(ci, 'POST', '/projects/acme/web/storm', { builds: 200, ms: 50, failEvery: 10 })
  expect(answer).toMatchObject({ status: 201, json: { builds: { length: 200 } } })
  await vi.waitFor(() => expect(ci.deliveries()).toHaveLength(400), 10_000)
  await ci.settle()
  const told = Map.groupBy(
    hook.received.map(({ body }) => readDelivery(body)),
    ({ build_id: id }) => id,
  )
  const stories = [...told.values()].map((builds) => builds.map(({ status }) => status).join(' '))
  expect(stories.filter((story) => story === 'initiated success')).toHaveLength(180)
  expect(stories.filter((story) => story === 'initiated error')).toHaveLength(20)
})

it('a storm can push to few branches', async () => {
  const ci = await startCi()
  ci.storm('acme/web', { builds: 10, ms: 60_000, branches: 2 })
  expect(new Set(ci.state().builds.map(({ branch }) => branch))).toEqual(new Set(['storm-1', 'storm-2']))
})
