import { expect, test } from 'vitest'
import { createSender } from '../../src/runtime/sender.ts'
import { openStage } from '../alerts/stage.ts'
import { inBrief } from '../support/fake-notifier.ts'

/** What one of several processes sends. */
async function openSender() {
  const stage = await openStage()
  const { deps } = stage.embody()
  const stopping = new AbortController()
  const sender = createSender({ ...deps, jobs: () => [], countJob: () => {}, stopping: stopping.signal })
  const over = new AbortController()
  const term = { ...deps.term, over: over.signal }
  const shown = () => stage.slack.messages.map(({ view }) => inBrief(view))
  return Object.assign(stage, { sender, term, over, shown })
}

test('a build event is not sent while another process sends', async () => {
  await using here = await openSender()
  await here.hear('initiated')
  await here.clock.advance(60_000)
  expect(here.shown()).toEqual([])
})

test('a build event is sent as soon as it is stored, until the term is over', async () => {
  await using here = await openSender()
  here.sender.serve(here.term)
  await here.clock.settle()
  await here.hear('initiated')
  await here.clock.settle()
  expect(here.shown()).toEqual(['card 512 started'])
  here.over.abort()
  await here.sender.ended()
  await here.hear('error')
  await here.clock.advance(60_000)
  expect(here.shown()).toEqual(['card 512 started'])
})
