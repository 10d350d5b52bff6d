import { describe, expect, it } from 'vitest'
import { answerNameless, answerTooMuch } from '../../../src/features/kit/slips.ts'
import { untilOf } from '../../../src/features/streaks/action.ts'
import { openPeopleStage } from '../kit/people-stage.ts'
import { ada } from '../kit/stage.ts'

const ON = '/ci on it [30m|4h|tomorrow] [project[@branch] | #build | build address | uuid]'
const LET = '/ci let go [project[@branch] | #build | build address | uuid]'

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

describe('/ci on and /ci let', () => {
  it('take a branch for the minutes or hours that are typed, and let it go', async () => {
    const { behind, store, type } = await openPeopleStage()
    await behind.ended('error')
    const spans = { it: 60, '': 60, '1m': 1, 'it 1m': 1, '90m': 90, '1440M': 1440, '4h': 240, '24h': 1440 }
    for (const [time, minutes] of Object.entries(spans)) {
      await type(`on ${time} acme/web@main`)
      const [taken] = await store.read.streaksOf(ada)
      expect(taken, time).toMatchObject({ ownerUntil: untilOf(minutes, 'Europe/Berlin', behind.clock.now()) })
      await type('let go acme/web@main')
    }
  })

  it('without a branch show what is red', async () => {
    const { behind, type } = await openPeopleStage()
    await behind.ended('error')
    for (const text of ['on', 'on it 30m']) expect(await type(text), text).toMatch(/1 branch is red.*#501/s)
  })

  it('do not understand a time of no minutes or more than a day', async () => {
    const { type } = await openPeopleStage()
    for (const time of ['0m', '-5m', '1441m', '0h', '25h', '99999999999h'])
      expect(await type(`on it ${time}`)).toContain(`\`${time}\` is not a time from \`1m\` to \`24h\``)
  })

  it('with a mistyped project suggest a command that does the same', async () => {
    const { type } = await openPeopleStage()
    expect(await type('on it acme/wbe')).toContain('/ci on acme/web`')
    expect(await type('on acme/wbe@main')).toContain('/ci on acme/web@main`')
    expect(await type('let go acme/wbe')).toContain('/ci let acme/web`')
  })

  it('and /ci red, mistyped, are answered with how they are typed', async () => {
    const { type } = await openPeopleStage()
    const lines = [
      ['on it acme/web@', answerNameless({ branchOf: 'acme/web', usage: ON, example: '/ci on acme/web@branch' })],
      ['let go acme/web@', answerNameless({ branchOf: 'acme/web', usage: LET, example: '/ci let acme/web@branch' })],
      ['red acme/web main', answerTooMuch({ extra: 'main', usage: '/ci red [project]', example: '/ci red' })],
      ['red ""', answerNameless({ branchOf: null, usage: '/ci red [project]', example: '/ci red' })],
    ] as const
    for (const [text, answer] of lines) expect(await type(text), text).toBe(answer.text)
  })
})
