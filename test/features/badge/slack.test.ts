import { describe, expect, it } from 'vitest'
import { PEOPLE } from '../../../packages/sandbox-slack/src/workspace.ts'
import { answerNameless, answerTooLittle } from '../../../src/features/kit/slips.ts'
import { failed, openPlayed, SOURCES } from '../../support/sources.ts'
import { type, untilAnswered } from '../../support/world.ts'
import { openPeopleStage } from '../kit/people-stage.ts'

const ADDRESSES = {
  ci: /failing.*\/projects\/[0-9a-f-]+\/status\?branch=main/,
  github: /last build.*acme\/web\/workflows\/CI\/badge\.svg\?branch=main/,
  gitlab: /last build.*acme\/web\/badges\/main\/pipeline\.svg/,
} as const

describe('/ci badge', () => {
  it.each(['ci', 'github', 'gitlab'] as const)("gives the address of a branch's badge: %s", async (source) => {
    const stage = await openPlayed(SOURCES[source])
    await failed(stage)
    await type(stage, PEOPLE.ada, '/ci badge acme/web main')
    const answer = await untilAnswered(stage, PEOPLE.ada, ['Markdown'])
    expect(JSON.stringify(answer)).toMatch(ADDRESSES[source])
  })

  it("takes a project by its uuid, and a build's project and branch", async () => {
    const stage = await openPeopleStage()
    await stage.behind.running({ branch: 'topic' })
    const { uuid } = stage.behind.ci.state().projects.find(({ name }) => name === 'acme/web')!
    expect(await stage.type(`badge ${uuid}`)).toContain('acme/web')
    expect(await stage.type('badge #501')).toMatch(/acme\/web.*`topic`/)
  })

  it('without a project or with an empty branch is answered with how it is typed', async () => {
    const stage = await openPeopleStage()
    const usage = '/ci badge project [branch]'
    expect(await stage.type('badge')).toBe(
      answerTooLittle({ missing: 'a project', usage, example: '/ci badge acme/web' }).text,
    )
    expect(await stage.type('badge acme/web@')).toBe(
      answerNameless({ branchOf: 'acme/web', usage, example: '/ci badge acme/web@branch' }).text,
    )
  })
})
