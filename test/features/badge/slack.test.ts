import { describe, expect, it } from 'vitest'
import { answerNameless, answerTooLittle } from '../../../src/features/kit/slips.ts'
import { openPeopleStage } from '../kit/people-stage.ts'

describe('/ci badge', () => {
  it("takes a project by its uuid, and a build's project and branch", async () => {
    const { behind, type } = await openPeopleStage()
    await behind.running({ branch: 'topic' })
    const { uuid } = behind.ci.state().projects.find(({ name }) => name === 'acme/web')!
    expect(await type(`badge ${uuid}`)).toContain('acme/web')
    expect(await type('badge #501')).toMatch(/acme\/web.*`topic`/)
  })

  it('without a project or with an empty branch is answered with how it is typed', async () => {
    const { type } = await openPeopleStage()
    const usage = '/ci badge project [branch]'
    expect(await type('badge')).toBe(
      answerTooLittle({ missing: 'a project', usage, example: '/ci badge acme/web' }).text,
    )
    expect(await type('badge acme/web@')).toBe(
      answerNameless({ branchOf: 'acme/web', usage, example: '/ci badge acme/web@branch' }).text,
    )
  })
})
