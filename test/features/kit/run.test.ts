import { describe, expect, it } from 'vitest'
import { answerHelp, answerHelpAbout } from '../../../src/features/help/slack.ts'
import { answerNameless, answerTooLittle, answerTooMuch, answerUnknown } from '../../../src/features/kit/slips.ts'
import { untilOf } from '../../../src/features/streaks/action.ts'
import { describedFeatures } from '../../../src/features/features.ts'
import { answerOverview, answerStatus } from '../../../src/features/builds/status-messages.ts'
import { pageValue } from '../../../src/features/kit/values.ts'
import { openPeopleStage } from './people-stage.ts'
import { ada, build, BUILDS, button, openStage, postCard, sol } from './stage.ts'

const { commands: COMMANDS } = describedFeatures()

const ON = '/ci on it [30m|4h|tomorrow] [project[@branch] | #build | build address | uuid]'
const LET = '/ci let go [project[@branch] | #build | build address | uuid]'
const STOP = COMMANDS.find(({ name }) => name === 'stop')!
const CONTEXT = { command: 'status', branch: null, reference: '1' }

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
      ['why a b c', answerTooMuch({ extra: 'c', usage: '/ci why [#build]', example: '/ci why' })],
      [
        'badge',
        answerTooLittle({ missing: 'a project', usage: '/ci badge project [branch]', example: '/ci badge acme/web' }),
      ],
      ['on it acme/web@', answerNameless({ branchOf: 'acme/web', usage: ON, example: '/ci on acme/web@branch' })],
      ['let go acme/web@', answerNameless({ branchOf: 'acme/web', usage: LET, example: '/ci let acme/web@branch' })],
      ['red acme/web main', answerTooMuch({ extra: 'main', usage: '/ci red [project]', example: '/ci red' })],
      ['red ""', answerNameless({ branchOf: null, usage: '/ci red [project]', example: '/ci red' })],
      [
        'badge acme/web@',
        answerNameless({
          branchOf: 'acme/web',
          usage: '/ci badge project [branch]',
          example: '/ci badge acme/web@branch',
        }),
      ],
      ['why “”', answerNameless({ branchOf: null, usage: '/ci why [#build]', example: '/ci why project@branch' })],
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
    for (const text of ['', 'list', 'status', 'status acme/web', 'badge acme/web', 'why', 'stop', 'restart', 'red']) {
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

describe('/ci badge', () => {
  it("takes a project by its uuid, and a build's project and branch", async () => {
    const { behind, type } = await openPeopleStage()
    await behind.running({ branch: 'topic' })
    const { uuid } = behind.ci.state().projects.find(({ name }) => name === 'acme/web')!
    expect(await type(`badge ${uuid}`)).toContain('acme/web')
    expect(await type('badge #501')).toMatch(/acme\/web.*`topic`/)
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
})

describe('the red branches', () => {
  it('that the overview does not show are counted', () => {
    const { text } = answerOverview({
      newest: { builds: [build({ shown: 'failed' })], more: 5, red: 4 },
      running: { kind: 'running', where: 'everywhere', builds: [], more: 0 },
    })
    expect(text).toContain('*4 red, 0 running* in all projects')
    expect(text).toContain('… and 3 more.')
  })

  it('of a channel are counted in words', () => {
    const status = (red: number) =>
      answerStatus({ kind: 'channel-status', where: 'channel', builds: [build()], more: 0, red }, CONTEXT).text
    expect(status(0)).toContain("*No red branches* in this channel's projects")
    expect(status(1)).toContain("*1 branch is red* in this channel's projects")
    expect(status(12)).toContain('*12 branches are red* in')
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
