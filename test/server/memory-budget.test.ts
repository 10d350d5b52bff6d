import { expect, test } from 'vitest'
import { createMemoryBudget } from '../../src/server/memory.ts'

function begin(bytesMax: number) {
  const room = createMemoryBudget(bytesMax)
  const givenUp: string[] = []
  return { givenUp, enter: (name: string) => room.enter(() => givenUp.push(name)) }
}

test('all together may hold exactly as much as there is room for, and not one byte more', () => {
  const { enter, givenUp } = begin(10)
  const [ada, gus] = [enter('Ada'), enter('Gus')]
  ada.holds(4)
  gus.holds(6)
  expect(givenUp).toEqual([])
  ada.holds(5)
  expect(givenUp).toEqual(['Gus'])
})

test('whoever holds most is given up, also when it is the one that came last', () => {
  const { enter, givenUp } = begin(10)
  enter('Ada').holds(3)
  enter('Gus').holds(8)
  expect(givenUp).toEqual(['Gus'])
})

test('as many are given up as it takes, and those that are small stay', () => {
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

test('what has left, or was given up, takes no room', () => {
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
