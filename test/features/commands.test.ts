import { describe, expect, it } from 'vitest'
import { answerAction } from '../../src/features/builds/action-messages.ts'
import { answerNotAllowed } from '../../src/features/not-allowed.ts'
import { answerHelp, answerHelpAbout } from '../../src/features/help/messages.ts'
import { answerNameless, answerTooLittle, answerTooMuch, answerUnknown } from '../../src/features/slips.ts'
import { answerRed } from '../../src/features/breakages/messages.ts'
import type { Operations } from '../../src/features/operations.ts'
import type { Which, BreakageAction } from '../../src/features/breakages/action.ts'
import { describedFeatures } from '../../src/features/features.ts'
import type { Answer } from '../../src/slack/messages/answer.ts'
import { answerOverview, answerRunning, answerStatus } from '../../src/features/builds/status-messages.ts'
import { ada, build, BUILDS, openStage, sol, STOP_REQUESTED, SUCCESS, type Called } from './stage.ts'

const { commands: COMMANDS } = describedFeatures()

const UUID = '0f0f0f0f-1111-2222-3333-444444444444'
const by = {
  user: ada,
  team: expect.any(String),
  channel: BUILDS,
  via: 'command',
  interactionKey: expect.stringMatching(/\.sandbox$/),
}
const project = (name: string, branch: string | null = null) => ({ kind: 'project', project: name, branch })

const ON = '/ci on [it] [30m|4h|tomorrow] [project[@branch] | #build | build address | uuid]'
const LET = '/ci let [go] [project[@branch] | #build | build address | uuid]'
const STOP = COMMANDS.find(({ name }) => name === 'stop')!
const CONTEXT = { command: 'status', branch: null, reference: '1' }

type Asked = [line: string, calls: Called[]]

const both = (action: 'stop' | 'restart'): Asked[] => [
  [`/ci ${action} acme/web`, [[action, project('acme/web'), by]]],
  [`/ci ${action} acme/web@fix/login`, [[action, project('acme/web', 'fix/login'), by]]],
  [`/ci ${action} acme/web fix/login`, [[action, project('acme/web', 'fix/login'), by]]],
  [`/ci ${action} #512`, [[action, { kind: 'build-number', number: '512', project: null }, by]]],
  [`/ci ${action} acme/web #512`, [[action, { kind: 'build-number', number: '512', project: 'acme/web' }, by]]],
  [`/ci ${action} ${UUID}`, [[action, { kind: 'uuid', uuid: UUID }, by]]],
  [
    `/ci ${action} https://ci.example/acme/web/builds/512`,
    [[action, { kind: 'build-url', url: 'https://ci.example/acme/web/builds/512' }, by]],
  ],
  [`/ci-${action} acme/web@main`, [[action, project('acme/web', 'main'), by]]],
  [`/ci ${action.toUpperCase()} acme/web`, [[action, project('acme/web'), by]]],
  [`/ci ${action} “acme web”@main`, [[action, project('acme web', 'main'), by]]],
  // A target with too many words must do nothing.
  [`/ci ${action} acme/web main now`, []],
  [`/ci ${action} acme/web@`, []],
  [`/ci ${action} acme/web ""`, []],
  [`/ci ${action} ""`, []],
]

const overview = { project: null, branch: null, channel: BUILDS }

describe('a command', () => {
  it.each<Asked>([
    ...both('stop'),
    ...both('restart'),
    ['/ci stop', [['running', BUILDS]]],
    ['/ci-stop', [['running', BUILDS]]],
    ['/ci restart', [['status', overview]]],
    ['/ci list', [['listProjects', { text: null, type: null, page: 1 }]]],
    ['/ci-list', [['listProjects', { text: null, type: null, page: 1 }]]],
    ['/ci list acme', [['listProjects', { text: 'acme', type: null, page: 1 }]]],
    ['/ci list acme web pro 2', [['listProjects', { text: 'acme web', type: 'pro', page: 2 }]]],
    ['/ci list Basic', [['listProjects', { text: null, type: 'basic', page: 1 }]]],
    ['/ci list 3', [['listProjects', { text: null, type: null, page: 3 }]]],
    ['/ci list "" acme pro', [['listProjects', { text: 'acme', type: 'pro', page: 1 }]]],
    ['/ci list 0', [['listProjects', { text: '0', type: null, page: 1 }]]],
    ['/ci list 10000', [['listProjects', { text: null, type: null, page: 10_000 }]]],
    ['/ci list 10001', [['listProjects', { text: '10001', type: null, page: 1 }]]],
    ['/ci status', [['status', overview]]],
    ['/ci status acme/web', [['status', { project: 'acme/web', branch: null, channel: BUILDS }]]],
    ['/ci status acme/web main', [['status', { project: 'acme/web', branch: 'main', channel: BUILDS }]]],
    ['/ci status #512', [['status', { target: { kind: 'build-number', number: '512', project: null } }]]],
    ['/ci badge acme/web', [['badge', { project: 'acme/web', branch: null }]]],
    ['/ci-badge acme/web main', [['badge', { project: 'acme/web', branch: 'main' }]]],
    [`/ci badge ${UUID}`, [['badge', { project: UUID, branch: null }]]],
    [
      '/ci badge #512',
      [
        ['findBuild', { kind: 'build-number', number: '512', project: null }],
        ['badge', { project: '41', branch: 'main' }],
      ],
    ],
    ['/ci badge', []],
    ['/ci why', [['why', null, by]]],
    ['/ci why #512', [['why', { kind: 'build-number', number: '512', project: null }, by]]],
    [
      '/ci',
      [
        ['status', overview],
        ['running', BUILDS],
      ],
    ],
    ['/ci help', []],
    ['/ci help stop', []],
    ['/ci stpo acme/web', []],
    ['/ci-unheard-of acme/web', []],
    ['/builds stop acme/web', [['stop', project('acme/web'), by]]],
  ])('calls its operation and answers only the requester: %s', async (line, calls) => {
    const { slack, asked, untilTold } = await openStage()
    const { command, text } = partsOf(line)
    const acknowledgement = await slack.people.runCommand({ user: ada, channel: BUILDS, command, text })
    expect(acknowledgement).toMatchObject({ kind: 'answered', status: 200, body: '' })
    expect(await asked(1)).toEqual(calls)
    expect(await untilTold(1)).toHaveLength(1)
    expect(slack.messages(BUILDS)).toEqual([])
  })

  it('shows the outcome as its answer', async () => {
    const { slack, untilTold } = await openStage()
    await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'stop acme/web' })
    const { text } = answerAction(STOP_REQUESTED, { command: 'stop', branch: null, reference: '00000001' })
    expect(await untilTold(1)).toEqual([text])
  })

  it('counts in the overview the red branches that it does not show', () => {
    const { text } = answerOverview({
      newest: { builds: [build({ shown: 'failed' })], more: 5, red: 4 },
      running: { kind: 'running', where: 'everywhere', builds: [], more: 0 },
    })
    expect(text).toContain('*4 red, 0 running* in all projects')
    expect(text).toContain('… and 3 more.')
  })

  it('shows the running builds if nothing is named', async () => {
    const { slack, untilTold } = await openStage()
    await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'stop' })
    expect(await untilTold(1)).toEqual([
      answerRunning({ kind: 'running', where: 'channel', builds: [build()], more: 0 }).text,
    ])
  })

  it.each([
    [
      '',
      answerOverview({
        newest: { builds: [build()], more: 0, red: 0 },
        running: { kind: 'running', where: 'channel', builds: [build()], more: 0 },
      }),
    ],
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
    ...['on', 'on it 30m', 'let go'].map((text): [string, Answer] => [
      text,
      answerRed({ builds: [], more: 0 }, ' in all projects'),
    ]),
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
  ])('answers with help: /ci %s', async (text, answer) => {
    const { slack, untilTold } = await openStage()
    await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text })
    expect(await untilTold(1)).toEqual([answer.text])
  })

  it.each(['0m', '-5m', '1441m', '0h', '25h', '99999999999h'])('does not understand the time %s', async (time) => {
    const { slack, untilTold, calls } = await openStage()
    await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: `on it ${time}` })
    expect(await untilTold(1)).toEqual([expect.stringContaining(`\`${time}\` is not a time from \`1m\` to \`24h\``)])
    expect(calls).toEqual([])
  })

  it.each([
    ['on it acme/wbe', '/ci on acme/web`'],
    ['on acme/wbe@main', '/ci on acme/web@main`'],
    ['let go acme/wbe', '/ci let acme/web`'],
  ])('/ci %s: suggests a command that does the same', async (text, suggested) => {
    const act = async () => ({ kind: 'no-project', text: 'acme/wbe', nearest: 'acme/web', isListRead: true }) as const
    const { slack, untilTold } = await openStage({ operations: { breakages: { ...SUCCESS.breakages, act } } })
    await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text })
    expect(await untilTold(1)).toEqual([expect.stringContaining(suggested)])
  })

  it('counts the red branches of a channel in words', () => {
    const status = (red: number) =>
      answerStatus({ kind: 'channel-status', where: 'channel', builds: [build()], more: 0, red }, CONTEXT).text
    expect(status(0)).toContain("*No red branches* in this channel's projects")
    expect(status(1)).toContain("*1 branch is red* in this channel's projects")
    expect(status(12)).toContain('*12 branches are red* in')
  })

  it.each([
    ['it', 60],
    ['', 60],
    ['1m', 1],
    ['it 1m', 1],
    ['90m', 90],
    ['1440M', 1440],
    ['4h', 240],
    ['24h', 1440],
  ])('takes a red branch for the minutes or hours that are typed: %s', async (time, span) => {
    const wishes: BreakageAction[] = []
    const act = async (_: Which, wish: BreakageAction) => {
      wishes.push(wish)
      return { kind: 'not-red' } as const
    }
    const { slack, untilTold } = await openStage({ operations: { breakages: { ...SUCCESS.breakages, act } } })
    await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: `on ${time} acme/web@main` })
    await untilTold(1)
    expect(wishes).toEqual([{ kind: 'take', span }])
  })

  it('names the command that an unknown alias resembles', async () => {
    const { slack, untilTold } = await openStage()
    await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci-stpo', text: 'acme/web' })
    expect(await untilTold(1)).toEqual([answerUnknown({ typed: 'stpo', nearest: 'stop' }).text])
  })

  it('is answered even if the bot is not in the channel', async () => {
    const { slack, untilTold } = await openStage()
    slack.acts.kickBot(BUILDS)
    await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'status' })
    expect(await untilTold(1)).toHaveLength(1)
  })

  it.each(['list', 'status', 'status acme/web', 'badge acme/web', 'why', 'stop', 'restart'])(
    'shows nothing to an outsider in a shared channel: /ci %s',
    async (text) => {
      const permit = { kind: 'no', why: 'outsider', who: [] } as const
      const { slack, asked, untilTold } = await openStage({ operations: { mayRead: async () => permit } })
      await slack.people.runCommand({ user: sol, channel: 'C0SHARED01', command: '/ci', text })
      const refused = answerNotAllowed(permit, { action: null, reference: '00000001' })
      expect(await untilTold(1, sol, 'C0SHARED01')).toEqual([refused.text])
      expect(await asked(1)).toEqual([])
    },
  )

  it('offers no button that this person may not use', async () => {
    const no = async () => ({ kind: 'no', why: 'guest', who: [] }) as const
    const buttonsFor = async (operations: Partial<Operations>) => {
      const { slack, untilTold } = await openStage({ operations })
      await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'stop' })
      await untilTold(1)
      return JSON.stringify(slack.ephemerals(BUILDS, ada)).includes('build_stop')
    }
    expect([await buttonsFor({}), await buttonsFor({ mayOperate: no })]).toEqual([true, false])
  })

  it("passes on the requester's own workspace", async () => {
    const { slack, asked } = await openStage()
    await slack.people.runCommand({ user: sol, channel: 'C0SHARED01', command: '/ci', text: 'stop #1' })
    expect(await asked(1)).toMatchObject([['stop', {}, { user: sol, team: 'T0OUTSIDE1', channel: 'C0SHARED01' }]])
  })
})

describe("a command's text", () => {
  it.each([
    ['10 KB in one word', `status ${'x'.repeat(10_000)}`],
    ['10 KB of words', `status ${'acme '.repeat(2_000)}`],
    ['10 KB of quotes', `stop ${'“'.repeat(10_000)}`],
    ['control characters', 'sta\u0000tus\u0007 ac\u001bme'],
    ['direction marks', '\u202estatus\u2069 \u2066acme\u202e'],
    ['a mention of everybody', 'frob <!channel> <@U0ADA00001> <#C0BUILDS01|builds>'],
    ['only blanks', ' \u00a0\t\u3000 '],
  ])('may be anything: %s', async (_, text) => {
    const { slack, untilTold, lines } = await openStage()
    const acknowledgement = await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text })
    expect(acknowledgement).toMatchObject({ status: 200 })
    expect(await untilTold(1)).toHaveLength(1)
    expect(lines.filter(({ level }) => level !== 'info')).toEqual([])
  })

  it('does not appear in the log', async () => {
    const { slack, asked, lines } = await openStage()
    await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'canary acme/canary' })
    await asked(1)
    expect(JSON.stringify(lines)).not.toContain('canary')
  })
})

function partsOf(line: string): { command: string; text: string } {
  const [command = '', ...words] = line.split(' ')
  return { command, text: words.join(' ') }
}
