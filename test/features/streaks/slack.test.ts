import { describe, expect, it } from 'vitest'
import { openPeopleStage } from '../kit/people-stage.ts'

describe('a branch with CI machine errors only', () => {
  it('needs nobody: /ci red and /ci on it say the same of it, and of a red branch something else', async () => {
    const { behind, type } = await openPeopleStage()
    await behind.ended('infrastructure_failure', {}, 'acme/ios')
    await behind.ended('error')
    const lines = (await type('red')).split('\n')
    expect(lines.find((said) => said.includes('acme/ios'))).toContain('nobody needs to look after it')
    expect(lines.find((said) => said.includes('acme/web'))).not.toContain('nobody needs')
    const answer = await type('on it acme/ios@main')
    expect(answer).toContain('*Nobody needs to look after* acme/ios on `main`')
    expect(answer).not.toContain('Not red')
    expect(await type('on it acme/web@main')).toContain("*You're on* acme/web `main`")
  })
})

describe('a branch that is not red', () => {
  it('is named', async () => {
    const { behind, type } = await openPeopleStage()
    await behind.ended('success')
    expect(await type('on it acme/web')).toContain('*Not red*: no build of acme/web on `main` has failed')
  })
})

describe('/ci let go alone', () => {
  it('lets go of the only branch that the person is on, and shows what is red if there are several', async () => {
    const { behind, type } = await openPeopleStage()
    await behind.ended('error')
    await behind.ended('error', {}, 'acme/api')
    expect(await type('let go')).toContain('*You are on no branch*')
    await type('on it acme/web@main')
    await type('on it acme/api@main')
    expect(await type('let go')).toContain('*2 branches are red*')
    await type('let go acme/api@main')
    expect(await type('let go')).toContain('*Nobody is on it now*: acme/web `main`')
    expect(await type('let go')).toContain('*You are on no branch*')
  })
})
