import { describe, expect, it } from 'vitest'
import { createNewest, MODALS_MAX } from '../../../src/features/kit/context.ts'

describe('the newest choice', () => {
  it('keeps its modal from being forgotten', () => {
    const newest = createNewest()
    const older = newest.begin('V1')
    for (let at = 0; at < MODALS_MAX - 1; at += 1) newest.begin(`other ${at}`)
    const newer = newest.begin('V1')
    newest.begin('one more')
    expect([older(), newer()]).toEqual([false, true])
  })

  it(`is kept for ${MODALS_MAX} modals`, () => {
    const newest = createNewest()
    const older = newest.begin('V1')
    expect(older()).toBe(true)
    const newer = newest.begin('V1')
    expect([older(), newer()]).toEqual([false, true])
    for (let at = 0; at < MODALS_MAX - 1; at += 1) newest.begin(`other ${at}`)
    expect([older(), newer()]).toEqual([false, true])
    newest.begin('one more')
    expect([older(), newer()]).toEqual([true, true])
  })
})
