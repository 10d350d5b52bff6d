import { describe, expect, it } from 'vitest'
import { answerHelp, answerHelpAbout } from '../../../src/features/help/slack.ts'
import { answerUnknown } from '../../../src/features/kit/slips.ts'
import { describedFeatures } from '../../../src/features/features.ts'
import { pageValue } from '../../../src/features/kit/values.ts'
import { openPeopleStage } from './people-stage.ts'
import { ada, BUILDS, button, openStage, postCard, sol } from './stage.ts'

const { commands: COMMANDS } = describedFeatures()

const STOP = COMMANDS.find(({ name }) => name === 'stop')!

describe('a command', () => {
  it('answers only the requester, after an empty acknowledgement', async () => {
    const { slack, untilTold } = await openPeopleStage()
    const line = { user: ada, channel: BUILDS, command: '/builds', text: 'STATUS' }
    expect(await slack.people.runCommand(line)).toMatchObject({ kind: 'answered', status: 200, body: '' })
    expect(await untilTold(1)).toEqual([expect.stringContaining('*No build yet*')])
    expect(slack.messages(BUILDS)).toEqual([])
  })

  it('that is not understood says how it is typed, and does nothing', async () => {
    const { behind, type } = await openPeopleStage()
    await behind.running()
    const lines = [
      ['help', answerHelp(COMMANDS)],
      ['help stop', answerHelpAbout(STOP)],
      ['help STOP', answerHelpAbout(STOP)],
      ['help /ci-stop', answerHelpAbout(STOP)],
      ['stpo acme/web', answerUnknown({ typed: 'stpo', nearest: 'stop' })],
      ['help stpo', answerUnknown({ typed: 'stpo', nearest: 'stop' })],
      ['frobnicate', answerUnknown({ typed: 'frobnicate', nearest: null })],
      ['""', answerUnknown({ typed: '', nearest: null })],
    ] as const
    for (const [text, answer] of lines) expect(await type(text), text).toBe(answer.text)
    for (const action of ['stop', 'restart'])
      for (const target of ['acme/web main now', 'acme/web@', 'acme/web ""', '""'])
        expect(await type(`${action} ${target}`)).toMatch(/^:mag: /)
    expect(behind.writes()).toEqual([])
  })

  it('names the command that an unknown alias resembles', async () => {
    const { slack, untilTold } = await openStage()
    await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci-stpo', text: 'acme/web' })
    expect(await untilTold(1)).toEqual([answerUnknown({ typed: 'stpo', nearest: 'stop' }).text])
  })

  it('shows nothing to an outsider in a shared channel, typed or clicked', async () => {
    const { slack, behind, type, untilTold } = await openPeopleStage({
      permits: async (_, { user }) => (user === sol ? { kind: 'no', why: 'outsider', who: [] } : { kind: 'yes' }),
    })
    await behind.running()
    const looks = COMMANDS.filter(({ group }) => group === 'Look').map(({ examples }) =>
      examples[0]!.slice('/ci '.length),
    )
    expect(looks.length).toBeGreaterThan(2)
    for (const text of ['', ...looks, 'stop', 'restart']) {
      const answer = await type(text, { user: sol, channel: 'C0SHARED01' })
      expect(answer, text).toContain('you cannot see builds')
      expect(answer).not.toContain('acme/')
    }
    const ts = await postCard(slack, [button('list_next', pageValue({ text: null, type: null, page: 2 })!)])
    await slack.people.click({ user: sol, channel: BUILDS, ts, actionId: 'list_next' })
    expect(await untilTold(1, sol)).toEqual([expect.stringContaining('you cannot see builds')])
  })

  it('offers no button that this person may not use', async () => {
    const { slack, behind, type } = await openPeopleStage({
      permits: async (right, { user }) =>
        user === sol && right === 'operate' ? { kind: 'no', why: 'guest', who: [] } : { kind: 'yes' },
    })
    await behind.running()
    const buttons = async (user: string) => {
      expect(await type('stop', { user })).toContain('1 build runs')
      return JSON.stringify(slack.ephemerals(BUILDS, user)).includes('build_stop')
    }
    expect([await buttons(ada), await buttons(sol)]).toEqual([true, false])
  })

  it("passes on the requester's own workspace", async () => {
    const { slack, asked } = await openStage()
    await slack.people.runCommand({ user: sol, channel: 'C0SHARED01', command: '/ci', text: 'stop #1' })
    expect(await asked(1)).toMatchObject([['stop', {}, { user: sol, team: 'T0OUTSIDE1', channel: 'C0SHARED01' }]])
  })
})

describe("a command's text", () => {
  const TEXTS = [
    ['10 KB in one word', `status ${'x'.repeat(10_000)}`],
    ['10 KB of words', `status ${'acme '.repeat(2_000)}`],
    ['10 KB of quotes', `stop ${'“'.repeat(10_000)}`],
    ['control characters', 'sta\u0000tus\u0007 ac\u001bme'],
    ['direction marks', '\u202estatus\u2069 \u2066acme\u202e'],
    ['a mention of everybody', 'frob <!channel> <@U0ADA00001> <#C0BUILDS01|builds>'],
    ['only blanks', ' \u00a0\t\u3000 '],
  ] as const

  it('may be anything', async () => {
    const { slack, untilTold, lines } = await openPeopleStage()
    for (const [at, [what, text]] of TEXTS.entries()) {
      const acknowledgement = await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text })
      expect(acknowledgement, what).toMatchObject({ status: 200 })
      expect(await untilTold(at + 1)).toHaveLength(at + 1)
    }
    expect(lines.filter(({ level }) => level !== 'info')).toEqual([])
  })

  it('does not appear in the log', async () => {
    const { slack, asked, lines } = await openStage()
    await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'canary acme/canary' })
    await asked(1)
    expect(JSON.stringify(lines)).not.toContain('canary')
  })
})
