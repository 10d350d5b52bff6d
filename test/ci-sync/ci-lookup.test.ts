import { expect, it } from 'vitest'
import { createCiLookup, type CiLookupDeps } from '../../src/ci-sync/ci-lookup.ts'
import { createHandClock } from '../support/hand-clock.ts'
import { T0 } from '../support/build-events.ts'

const UNKNOWN = { kind: 'no-project' }

function lookup() {
  const clock = createHandClock(T0)
  const done: string[] = []
  const orAskCi = createCiLookup({
    clock,
    refresh: async () => {
      done.push('read')
      return { failure: null, isWhole: true, builds: 0 }
    },
  } as unknown as CiLookupDeps)
  const ask = async (...outcomes: { kind: string }[]) => {
    done.length = 0
    const outcome = await orAskCi(async () => {
      done.push('answer')
      return outcomes.shift() ?? UNKNOWN
    })
    return [...done, outcome.kind]
  }
  return { clock, ask, orAskCi }
}

it("an unknown name makes CI's list be read, and after that the answer is made again", async () => {
  const { ask } = lookup()
  expect(await ask({ kind: 'found' })).toEqual(['answer', 'found'])
  expect(await ask(UNKNOWN, { kind: 'found' })).toEqual(['answer', 'read', 'answer', 'found'])
})

it('an answer is not made again if the list was read shortly before it', async () => {
  const { clock, ask } = lookup()
  await ask()
  await clock.advance(1)
  expect(await ask()).toEqual(['answer', 'no-project'])
  await clock.advance(5_000)
  expect(await ask()).toEqual(['answer', 'read', 'answer', 'no-project'])
})

it('an answer is made again if the list was read meanwhile for another command', async () => {
  const { clock, ask, orAskCi } = lookup()
  const outcomes = [UNKNOWN, { kind: 'found' }]
  const outcome = await orAskCi(async () => {
    if (outcomes.length === 2) await ask()
    await clock.advance(1)
    return outcomes.shift()!
  })
  expect(outcome.kind).toBe('found')
})
