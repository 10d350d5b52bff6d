import { describe, expect, it } from 'vitest'
import { openPeopleStage } from '../kit/people-stage.ts'

describe('/ci list', () => {
  const LINES = [
    ['list acme web pro 2', '`acme web`, Pro only'],
    ['list Basic', 'Basic only'],
    ['list "" acme pro', '`acme`, Pro only'],
    ['list 0', '`0`'],
    ['list 10000', '3 projects'],
    ['list 10001', '`10001`'],
  ] as const

  it('reads a text, a type and a page', async () => {
    const { type } = await openPeopleStage()
    for (const [text, says] of LINES) expect(await type(text), text).toContain(says)
  })
})
