import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createBufferedSink, BUFFERED_MAX } from '../../src/lib/buffered-sink.ts'

interface Listener {
  count: (what: string) => void
  time: (ms: number) => void
}

function createHeard() {
  const said: unknown[] = []
  return { said, count: (what: string) => said.push(['count', what]), time: (ms: number) => said.push(['time', ms]) }
}

describe('a listener that is attached later', () => {
  it('gets what was buffered, in order, and then the items of each turn of the event loop', async () => {
    const { push, use } = createBufferedSink<Listener>()
    const heard = createHeard()
    push((to) => to.count('a'))
    push((to) => to.time(1))
    expect(heard.said).toEqual([])
    use(heard)
    const before = [
      ['count', 'a'],
      ['time', 1],
    ]
    push((to) => to.count('b'))
    push((to) => to.time(2))
    expect(heard.said).toEqual(before)
    await turn()
    expect(heard.said).toEqual([...before, ['count', 'b'], ['time', 2]])
    push((to) => to.count('c'))
    await turn()
    expect(heard.said.at(-1)).toEqual(['count', 'c'])
  })

  it('gets nothing twice if another one replaces it', async () => {
    const { push, use } = createBufferedSink<Listener>()
    const [first, second] = [createHeard(), createHeard()]
    push((to) => to.count('a'))
    use(first)
    use(second)
    push((to) => to.count('b'))
    await turn()
    expect(first.said).toEqual([['count', 'a']])
    expect(second.said).toEqual([['count', 'b']])
  })

  it('gets a limited number of buffered items', () => {
    const { push, use } = createBufferedSink<Listener>()
    for (let ms = 0; ms < BUFFERED_MAX + 1; ms++) push((to) => to.time(ms))
    const heard = createHeard()
    use(heard)
    expect(heard.said).toHaveLength(BUFFERED_MAX)
    expect(heard.said.at(-1)).toEqual(['time', BUFFERED_MAX - 1])
  })
})
