import { describe, expect, it } from 'vitest'
import { createLater, KEPT_MAX } from '../../src/lib/later.ts'

interface Listener {
  count: (what: string) => void
  time: (ms: number) => void
}

function createHeard() {
  const said: unknown[] = []
  return { said, count: (what: string) => said.push(['count', what]), time: (ms: number) => said.push(['time', ms]) }
}

describe('a listener that comes later', () => {
  it('is told what was said before, in order, and then at once', () => {
    const { tell, use } = createLater<Listener>()
    const heard = createHeard()
    tell((to) => to.count('a'))
    tell((to) => to.time(1))
    expect(heard.said).toEqual([])
    use(heard)
    tell((to) => to.count('b'))
    expect(heard.said).toEqual([
      ['count', 'a'],
      ['time', 1],
      ['count', 'b'],
    ])
  })

  it('is told nothing twice where another takes its place', () => {
    const { tell, use } = createLater<Listener>()
    const [first, second] = [createHeard(), createHeard()]
    tell((to) => to.count('a'))
    use(first)
    use(second)
    tell((to) => to.count('b'))
    expect(first.said).toEqual([['count', 'a']])
    expect(second.said).toEqual([['count', 'b']])
  })

  it('is told so much of what was said before, and not more', () => {
    const { tell, use } = createLater<Listener>()
    for (let ms = 0; ms < KEPT_MAX + 1; ms++) tell((to) => to.time(ms))
    const heard = createHeard()
    use(heard)
    expect(heard.said).toHaveLength(KEPT_MAX)
    expect(heard.said.at(-1)).toEqual(['time', KEPT_MAX - 1])
  })
})
