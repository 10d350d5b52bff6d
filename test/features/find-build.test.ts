import { describe, expect, it } from 'vitest'
import { answerNotOpened, answerOldSearch } from '../../src/features/fault-messages.ts'
import { answerAction } from '../../src/features/builds/action-messages.ts'
import { answerNotAllowed } from '../../src/features/not-allowed.ts'
import { answerNotFound } from '../../src/features/not-found.ts'
import { answerFound } from '../../src/features/builds/status-messages.ts'
import type { Block } from '../../src/slack/messages/blocks.ts'
import type { Answer } from '../../src/slack/messages/answer.ts'
import { branchIn, FIND_BRANCH_ID, FIND_PROJECT_ID, findView } from '../../src/features/builds/find-modal.ts'
import { OPTION_VALUE_CHARS_MAX, OPTIONS_MAX, projectOptions } from '../../src/features/fields.ts'
import { createNewest, MODALS_MAX } from '../../src/features/context.ts'
import { SOON_MS } from '../../src/features/register.ts'
import { checkView } from '../../packages/sandbox-slack/src/limits.ts'
import { turnedClock } from '../../packages/sandbox-slack/test/stage.ts'
import { ada, build, openStage, pending, PROJECT, REF, sol, STOP_REQUESTED, until, type Stage } from './stage.ts'

const OPEN = { user: ada, callbackId: 'find_build' }
const option = (value: string) => ({ selected_option: { text: { type: 'plain_text', text: value }, value } })
const chooseProject = (value = '41') => ({ user: ada, actionId: FIND_PROJECT_ID, selected: option(value) })
const chooseBranch = (branch: string) => ({ user: ada, actionId: FIND_BRANCH_ID, selected: option(`branch:${branch}`) })

const blocksOf = (slack: Stage['slack'], user: string = ada) =>
  (slack.views.stack(user).at(-1)?.['blocks'] ?? []) as object[]
const textIn = (slack: Stage['slack'], user: string = ada) => JSON.stringify(blocksOf(slack, user))
/** The text of an answer in the modal. */
const shown = ({ blocks }: Answer): string => {
  const section = blocks.find((block): block is Extract<Block, { type: 'section' }> => block.type === 'section')
  return JSON.stringify(section?.text.text)
}

describe('"Find a build"', () => {
  it('opens at once, suggests projects, and then shows the last build with its buttons', async () => {
    const { slack, asked } = await openStage()
    await slack.people.useGlobalShortcut(OPEN)
    await until(() => slack.views.stack(ada).length === 1)
    const { options } = await slack.people.suggest({ user: ada, actionId: FIND_PROJECT_ID, value: 'ac' })
    expect(options).toMatchObject([{ text: { text: 'acme/web' }, value: '41' }])
    await slack.people.select(chooseProject())
    expect(await asked(2)).toEqual([
      ['suggestProjects', 'ac'],
      ['branchesOf', '41'],
      ['findBuild', { kind: 'project', project: '41', branch: null }],
    ])
    expect(textIn(slack)).toContain(shown(answerFound(build())))
    await slack.people.select(chooseBranch('fix/login'))
    expect((await asked(3)).at(-1)).toEqual(['findBuild', { kind: 'project', project: '41', branch: 'fix/login' }])
    expect(slack.views.stack(ada)).toHaveLength(1)
    await slack.people.select({ user: ada, actionId: FIND_BRANCH_ID, selected: option('any') })
    expect((await asked(4)).at(-1)).toEqual(['findBuild', { kind: 'project', project: '41', branch: null }])
  })

  it('answers a click on Stop in the modal, and keeps the form', async () => {
    const { slack, asked } = await openStage()
    await slack.people.useGlobalShortcut(OPEN)
    await until(() => slack.views.stack(ada).length === 1)
    await slack.people.select(chooseProject())
    await asked(2)
    await slack.people.clickInView({ user: ada, actionId: 'build_stop' })
    expect((await asked(3)).at(-1)).toEqual([
      'stop',
      { kind: 'run', ref: REF },
      { user: ada, team: 'T0SANDBOX1', channel: null, via: 'modal', interactionKey: expect.any(String) },
    ])
    const done = answerAction(STOP_REQUESTED, { command: 'stop', branch: null, reference: '00000003' })
    expect(textIn(slack)).toContain(shown(done))
    await slack.people.select(chooseBranch('main'))
    expect((await asked(4)).at(-1)).toEqual(['findBuild', { kind: 'project', project: '41', branch: 'main' }])
  })

  it('answers a click in a modal that was closed meanwhile in a direct message', async () => {
    const { promise, settle } = pending<typeof STOP_REQUESTED>()
    const { slack, asked, calls } = await openStage({ operations: { stop: () => promise } })
    await slack.people.useGlobalShortcut(OPEN)
    await until(() => slack.views.stack(ada).length === 1)
    await slack.people.select(chooseProject())
    await asked(2)
    await slack.people.clickInView({ user: ada, actionId: 'build_stop' })
    await until(() => calls.some(([name]) => name === 'stop'))
    await slack.people.closeView({ user: ada })
    settle(STOP_REQUESTED)
    await asked(3)
    const { text } = answerAction(STOP_REQUESTED, { command: 'stop', branch: null, reference: '00000003' })
    expect(slack.messages(`D${ada.slice(1)}`)).toMatchObject([{ text }])
  })

  it('sends nothing to a person who closed it', async () => {
    const { promise, settle } = pending<{ kind: 'no-card' }>()
    const { slack, asked, calls } = await openStage({ operations: { findBuild: () => promise } })
    await slack.people.useGlobalShortcut(OPEN)
    await until(() => slack.views.stack(ada).length === 1)
    await slack.people.select(chooseProject())
    await until(() => calls.some(([name]) => name === 'findBuild'))
    await slack.people.closeView({ user: ada })
    settle({ kind: 'no-card' })
    await asked(2)
    expect(slack.workspace.channels.has(`D${ada.slice(1)}`)).toBe(false)
  })

  it('shows text only if Slack refuses the blocks', async () => {
    const { slack, asked } = await openStage()
    await slack.people.useGlobalShortcut(OPEN)
    await until(() => slack.views.stack(ada).length === 1)
    slack.faults.add({ kind: 'error', method: 'views.update', error: 'invalid_arguments', times: 1 })
    await slack.people.select(chooseProject())
    await asked(2)
    expect(textIn(slack)).toContain(JSON.stringify(answerFound(build()).text))
  })

  it('answers in a direct message if Slack refuses the modal', async () => {
    const { slack, asked } = await openStage()
    await slack.people.useGlobalShortcut(OPEN)
    await until(() => slack.views.stack(ada).length === 1)
    slack.faults.add({ kind: '5xx', method: 'views.update' })
    await slack.people.select(chooseProject())
    await asked(2)
    expect(slack.messages(`D${ada.slice(1)}`)).toMatchObject([{ text: answerFound(build()).text }])
  })

  it('shows the newest choice even if an older one is answered later', async () => {
    const first = pending<{ kind: 'found'; build: ReturnType<typeof build> }>()
    const old = build({ project: 'acme/old' })
    const { slack, asked, calls } = await openStage({
      operations: {
        findBuild: (target) =>
          target.kind === 'project' && target.project === '40'
            ? first.promise
            : Promise.resolve({ kind: 'found', build: build() }),
      },
    })
    await slack.people.useGlobalShortcut(OPEN)
    await until(() => slack.views.stack(ada).length === 1)
    await slack.people.select(chooseProject('40'))
    await until(() => calls.some(([name]) => name === 'findBuild'))
    await slack.people.select(chooseProject('41'))
    await asked(2)
    first.settle({ kind: 'found', build: old })
    await asked(3)
    expect(textIn(slack)).toContain(shown(answerFound(build())))
    expect(textIn(slack)).not.toContain('acme/old')
  })

  it.each([
    ['of another version', '{"chosen":["41"]}'],
    ['not JSON', '41'],
    ['with an empty name', '{"project":""}'],
    ['empty', ''],
  ])('says what to do if its metadata cannot be read: %s', async (_, metadata) => {
    const { slack, asked } = await openStage()
    await slack.people.useGlobalShortcut(OPEN)
    await until(() => slack.views.stack(ada).length === 1)
    await slack.people.select(chooseProject())
    await asked(2)
    const [open] = slack.views.stack(ada)
    open!['private_metadata'] = metadata
    await slack.people.select(chooseBranch('main'))
    expect((await asked(3)).filter(([name]) => name === 'findBuild')).toHaveLength(1)
    expect(textIn(slack)).toContain(shown(answerOldSearch()))
    expect(textIn(slack)).toContain(FIND_PROJECT_ID)
    expect(textIn(slack)).not.toContain(shown(answerFound(build())))
  })

  it('says so if there is no build', async () => {
    const none = { kind: 'no-build', project: 'acme/web', branch: null, nearest: null } as const
    const { slack, asked } = await openStage({ operations: { findBuild: async () => none } })
    await slack.people.useGlobalShortcut(OPEN)
    await until(() => slack.views.stack(ada).length === 1)
    await slack.people.select(chooseProject())
    await asked(2)
    expect(textIn(slack)).toContain(
      shown(answerNotFound(none, { command: 'status', branch: null, reference: '00000002' })),
    )
  })

  it('closes when it is submitted, and does nothing the second time', async () => {
    const { slack, calls, lines, asked } = await openStage()
    await slack.people.useGlobalShortcut(OPEN)
    await asked(1)
    expect(await slack.people.submitView({ user: ada })).toMatchObject({ status: 200, body: '' })
    expect(await slack.people.replay('view_submission')).toMatchObject({ status: 200, body: '' })
    expect([calls, slack.views.stack(ada)]).toEqual([[], []])
    expect(lines).toMatchObject([{ level: 'info', fields: { what: 'find', outcome: 'opened' } }])
  })

  it('shows nothing to an outsider, and suggests no names', async () => {
    const permit = { kind: 'no', why: 'outsider', who: [] } as const
    const refusals: (typeof permit)[] = []
    const mayRead = async () => refusals[0] ?? ({ kind: 'yes' } as const)
    const { slack, calls, asked } = await openStage({ operations: { mayRead } })
    const refused = (reference: string) => shown(answerNotAllowed(permit, { action: null, reference }))
    await slack.people.useGlobalShortcut({ ...OPEN, user: sol })
    await asked(1)
    refusals.push(permit)
    const { options } = await slack.people.suggest({ user: sol, actionId: FIND_PROJECT_ID, value: '' })
    expect(options).toEqual([])
    await slack.people.select({ ...chooseProject(), user: sol })
    await asked(2)
    expect(textIn(slack, sol)).toContain(refused('00000002'))
    await slack.people.useGlobalShortcut({ ...OPEN, user: sol })
    await asked(3)
    expect(textIn(slack, sol)).toContain(refused('00000003'))
    expect(calls).toEqual([])
  })

  it('that cannot be opened says so in a direct message, with the reference of its log line', async () => {
    const { slack, lines, asked } = await openStage()
    slack.faults.add({ kind: 'error', method: 'views.open', error: 'expired_trigger_id' })
    await slack.people.useGlobalShortcut(OPEN)
    const direct = `D${ada.slice(1)}`
    await until(() => slack.workspace.channels.has(direct) && slack.messages(direct).length === 1)
    expect(slack.messages(direct)).toMatchObject([{ text: answerNotOpened('late', '00000001').text }])
    await asked(1)
    expect(lines).toMatchObject([{ level: 'info', fields: { reference: '00000001', what: 'find', isShown: true } }])
  })
})

describe('a choice outside of a modal', () => {
  it('does nothing, and says what to do in a direct message', async () => {
    const { slack, asked } = await openStage()
    const actions = [{ type: 'external_select', action_id: FIND_PROJECT_ID, ...option('41') }]
    await slack.sender.send({
      what: 'a choice',
      contentType: 'application/x-www-form-urlencoded',
      body: new URLSearchParams({
        payload: JSON.stringify({ type: 'block_actions', user: { id: ada }, trigger_id: '1.sandbox', actions }),
      }).toString(),
    })
    expect(await asked(1)).toEqual([])
    expect(slack.messages(`D${ada.slice(1)}`)).toMatchObject([{ text: answerOldSearch().text }])
  })
})

describe('the project menu', () => {
  it('is empty if the projects cannot be read, and the log says why', async () => {
    const { slack, lines } = await openStage({
      operations: {
        suggestProjects: async () => {
          throw new Error('the disk is full')
        },
      },
    })
    await slack.people.useGlobalShortcut(OPEN)
    await until(() => slack.views.stack(ada).length === 1)
    const search = { user: ada, actionId: FIND_PROJECT_ID, value: 'acme' }
    expect(await slack.people.suggest(search)).toMatchObject({ acknowledgement: { status: 200 }, options: [] })
    expect(lines).toMatchObject([{ fields: { outcome: 'opened' } }, { level: 'warn', text: 'a menu has no options' }])
  })

  it(`is empty after ${SOON_MS} ms, before Slack gives up`, async () => {
    const clock = turnedClock()
    const never = () => new Promise<never>(() => {})
    const { slack, calls } = await openStage({ clock, operations: { suggestProjects: never } })
    await slack.people.useGlobalShortcut(OPEN)
    await until(() => slack.views.stack(ada).length === 1)
    const search = { user: ada, actionId: FIND_PROJECT_ID, value: 'acme' }
    const suggesting = slack.people.suggest(search)
    await until(() => calls.length === 1)
    clock.advance(SOON_MS)
    expect(await suggesting).toMatchObject({ acknowledgement: { kind: 'answered' }, options: [] })
  })

  it(`has at most ${OPTIONS_MAX} options, and leaves out names that are too long for a value`, () => {
    const named = (name: string) => ({ ...PROJECT, projectId: null, name })
    const many = Array.from({ length: OPTIONS_MAX + 1 }, (_, at) => named(`acme/${at}`))
    expect(projectOptions(many)).toHaveLength(OPTIONS_MAX)
    expect(projectOptions([named('x'.repeat(OPTION_VALUE_CHARS_MAX))])).toHaveLength(1)
    expect(projectOptions([named('x'.repeat(OPTION_VALUE_CHARS_MAX + 1))])).toEqual([])
  })
})

describe('the modal', () => {
  it.each([
    ['empty', findView({ chosen: null, branches: [], answer: [] })],
    ['without branches', findView({ chosen: { project: '41', branch: null }, branches: [], answer: [] })],
    [
      'with more branches than Slack shows',
      findView({
        chosen: { project: 'x'.repeat(150), branch: 'b7' },
        branches: Array.from({ length: 500 }, (_, at) => `b${at}`),
        answer: answerFound(build()).blocks,
      }),
    ],
    [
      'with hostile branches',
      findView({
        chosen: { project: '41', branch: '<!channel>' },
        branches: ['<!channel>', '\u202egnp', '', 'x'.repeat(1_000), '&amp;'.repeat(20), 'שלום'.repeat(30)],
        answer: [],
      }),
    ],
  ])('is valid for Slack: %s', (_, view) => {
    expect(checkView(JSON.parse(JSON.stringify(view)))).toEqual([])
  })
})

describe('the branch menu', () => {
  const branchMenu = (chosen: { project: string; branch: string | null }, branches: string[]) => {
    const view = JSON.parse(JSON.stringify(findView({ chosen, branches, answer: [] })))
    return view.blocks[1] as { block_id: string; accessory: { initial_option: { value: string } } }
  }
  const stands = (branch: string | null) =>
    branchMenu({ project: '41', branch }, ['main', 'fix/login']).accessory.initial_option.value

  it('selects the chosen branch, or any branch if the choice is not in it', () => {
    expect([stands('main'), stands(null), stands('gone')]).toEqual(['branch:main', 'any', 'any'])
  })

  it('is a new menu for another project, and the same one for another branch', () => {
    const idOf = (project: string, branch: string) => branchMenu({ project, branch }, []).block_id
    expect(idOf('41', 'main')).toBe(idOf('41', 'fix/login'))
    expect(idOf('41', 'main')).not.toBe(idOf('42', 'main'))
  })

  it.each([
    ['branch:main', 'main'],
    ['branch:any', 'any'],
    ['branch:', null],
    ['any', null],
  ])('%s means the branch %s', (value, branch) => {
    expect(branchIn(value)).toBe(branch)
  })
})

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
