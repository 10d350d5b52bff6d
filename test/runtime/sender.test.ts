import { expect, test, vi } from 'vitest'
import { createSender } from '../../src/runtime/sender.ts'
import { openStage } from '../alerts/stage.ts'
import { inBrief } from '../support/fake-notifier.ts'

/** One of several processes, whose announcements and listeners the test can see. */
async function openSender() {
  const stage = await openStage()
  const { deps } = stage.embody()
  const announce = vi.fn<() => void>()
  const listening: (() => void)[] = []
  const news = {
    announce,
    listen(onNews: () => void) {
      listening.push(onNews)
      return async () => void listening.splice(listening.indexOf(onNews), 1)
    },
  }
  const stopping = new AbortController()
  const sender = createSender({
    ...deps,
    store: { ...deps.store, news },
    jobs: () => [],
    countJob: () => {},
    stopping: stopping.signal,
  })
  const over = new AbortController()
  const term = { ...deps.term, over: over.signal }
  const shown = () => stage.slack.messages.map(({ view }) => inBrief(view))
  return Object.assign(stage, { sender, term, over, announce, listening, shown })
}

test('news is announced and not sent while another process sends', async () => {
  await using here = await openSender()
  await here.hear('initiated')
  here.sender.wake()
  await here.clock.settle()
  expect(here.announce).toHaveBeenCalledTimes(1)
  expect(here.shown()).toEqual([])
})

test('news is sent at once and not announced while this process sends', async () => {
  await using here = await openSender()
  here.sender.serve(here.term)
  await here.clock.settle()
  await here.hear('initiated')
  here.sender.wake()
  await here.clock.settle()
  expect(here.shown()).toEqual(['card 512 started'])
  expect(here.announce).not.toHaveBeenCalled()
})

test('news announced by another process is sent at once, until the term is over', async () => {
  await using here = await openSender()
  here.sender.serve(here.term)
  await here.clock.settle()
  await here.hear('initiated')
  for (const onNews of here.listening) onNews()
  await here.clock.settle()
  expect(here.shown()).toEqual(['card 512 started'])
  here.over.abort()
  await here.sender.ended()
  expect(here.listening).toEqual([])
  here.sender.wake()
  expect(here.announce).toHaveBeenCalledTimes(1)
})
