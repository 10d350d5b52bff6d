import { expect, test } from 'vitest'
import { createMemoryBudget } from '../../src/server/memory.ts'

function begin(bytesMax: number) {
  const room = createMemoryBudget(bytesMax)
  const givenUp: string[] = []
  return { givenUp, enter: (name: string) => room.enter(() => givenUp.push(name)) }
}

test('all bodies together may use exactly the budget, and not one byte more', () => {
  const { enter, givenUp } = begin(10)
  const [ada, gus] = [enter('Ada'), enter('Gus')]
  ada.holds(4)
  gus.holds(6)
  expect(givenUp).toEqual([])
  ada.holds(5)
  expect(givenUp).toEqual(['Gus'])
})

test('the largest body is dropped, even if it is the newest', () => {
  const { enter, givenUp } = begin(10)
  enter('Ada').holds(3)
  enter('Gus').holds(8)
  expect(givenUp).toEqual(['Gus'])
})

test('as many bodies are dropped as necessary, and small ones stay', () => {
  const { enter, givenUp } = begin(10)
  const ada = enter('Ada')
  const [gus, lin] = [enter('Gus'), enter('Lin')]
  ada.holds(1)
  for (const one of [gus, lin]) one.holds(4)
  ada.holds(3)
  expect(givenUp).toEqual(['Gus'])
  lin.holds(11)
  expect(givenUp).toEqual(['Gus', 'Lin'])
})

test('a body that ended or was dropped uses no budget', () => {
  const { enter, givenUp } = begin(10)
  const ada = enter('Ada')
  ada.holds(10)
  ada.leave()
  ada.leave()
  const gus = enter('Gus')
  gus.holds(10)
  gus.holds(11)
  gus.holds(9)
  enter('Lin').holds(10)
  expect(givenUp).toEqual(['Gus'])
})
