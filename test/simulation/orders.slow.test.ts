import { describe, expect, test } from 'vitest'
import type { Said } from '../support/build-events.ts'
import { CHANGES, endOf, EVERY, judgeOrders } from './orders.ts'

// Whatever the order in which a source's deliveries arrive, people see the same in the end.

const said = (attempt: number, word: string): Said => ({ word, details: { attempt, projectName: 'acme/web' } })

const orders = <T>(all: readonly T[]): T[][] =>
  all.length <= 1
    ? [[...all]]
    : all.flatMap((one, i) => orders([...all.slice(0, i), ...all.slice(i + 1)]).map((rest) => [one, ...rest]))

describe.each([
  ['that failed and passed', [said(1, 'initiated'), said(1, 'error'), said(2, 'initiated'), said(2, 'success')]],
  ['that failed twice', [said(1, 'error'), said(2, 'initiated'), said(2, 'error')]],
  ['of which one was stopped', [said(1, 'stopped'), said(2, 'initiated'), said(2, 'success'), said(3, 'error')]],
])('two attempts of a build %s', (_, events) => {
  test.each([
    ['every event', EVERY],
    ['changes', CHANGES],
  ])('end in the same card, replies and decisions in every order, in a channel that follows %s', async (__, rules) => {
    const inOrder = await endOf(events, rules)
    expect(inOrder.cards).toHaveLength(1)
    for (const order of orders(events)) expect(await endOf(order, rules)).toEqual(inOrder)
  })
})

test(
  'builds of several streams, attempts and sources end the same in several orders',
  { timeout: 60_000 },
  async () => {
    const failed: string[] = []
    for (let seed = 1; seed <= 30; seed++) {
      const wrongs = await judgeOrders(seed)
      if (wrongs.length > 0) failed.push([`SEED=${seed}`, ...wrongs].join('\n  '))
    }
    expect(failed.join('\n')).toBe('')
  },
)
