import { describe, expect, it } from 'vitest'
import type { Permit } from '../../../src/slack/api/permission.ts'
import { answerNotOpened, answerOldSearch } from '../../../src/features/kit/fault-messages.ts'
import { answerFound } from '../../../src/features/builds/status-messages.ts'
import { branchIn, FIND_BRANCH_ID, FIND_PROJECT_ID, findView } from '../../../src/features/builds/find-modal.ts'
import { OPTION_VALUE_CHARS_MAX, OPTIONS_MAX, projectOptions } from '../../../src/features/kit/fields.ts'
import { createNewest, MODALS_MAX } from '../../../src/features/kit/context.ts'
import { SOON_MS } from '../../../src/features/kit/register.ts'
import { checkView } from '../../../packages/sandbox-slack/src/limits.ts'
import { turnedClock } from '../../../packages/sandbox-slack/test/stage.ts'
import { openPeopleStage } from '../kit/people-stage.ts'
import { ada, build, pending, sol, until, type StageOptions } from '../kit/stage.ts'

const OPEN = { user: ada, callbackId: 'find_build' }
const DIRECT = `D${ada.slice(1)}`
const YES: Permit = { kind: 'yes' }
/** the projects' ids at CI */
const WEB = '11'
const API = '12'

const option = (value: string) => ({ selected_option: { text: { type: 'plain_text', text: value }, value } })
const chooseProject = (value = WEB) => ({ user: ada, actionId: FIND_PROJECT_ID, selected: option(value) })
const chooseBranch = (branch: string) => ({ user: ada, actionId: FIND_BRANCH_ID, selected: option(`branch:${branch}`) })

/** #501 runs on main of acme/web. What a person may do is what the test says. */
async function open(options: StageOptions = {}) {
  let next: (() => Promise<Permit>) | null = null
  const permits = async () => {
    const answer = next
    next = null
    return answer ? answer() : YES
  }
  const stage = await openPeopleStage({ permits }, options)
  await stage.behind.running({ branch: 'main' })
  return {
    ...stage,
    people: stage.slack.people,
    async openFind() {
      await stage.slack.people.useGlobalShortcut(OPEN)
      await stage.asked(1)
    },
    direct: () => stage.slack.messages(DIRECT).map(({ text }) => text),
    /** The next question what somebody may do is answered when the test says so. */
    hold() {
      const { promise, settle } = pending<Permit>()
      next = () => promise
      return { asked: () => until(() => next === null), end: (permit = YES) => settle(permit) }
    },
    failNext: () => void (next = () => Promise.reject(new Error('Slack is away'))),
  }
}

describe('"Find a build"', () => {
  it('opens at once, suggests projects, and then shows the last build with its buttons', async () => {
    const { people, slack, form, asked, openFind, behind } = await open()
    await behind.running({ branch: 'fix/login' })
    await openFind()
    const { options } = await people.suggest({ user: ada, actionId: FIND_PROJECT_ID, value: 'we' })
    expect(options).toMatchObject([{ text: { text: 'acme/web' } }])
    await people.select({ user: ada, actionId: FIND_PROJECT_ID, selected: { selected_option: options[0] } })
    await asked(2)
    expect(form()).toMatch(/#502.*build_stop/s)
    await people.select(chooseBranch('main'))
    await asked(3)
    expect(form()).toMatch(/#501.*build_stop/s)
    expect(slack.views.stack(ada)).toHaveLength(1)
    await people.select({ user: ada, actionId: FIND_BRANCH_ID, selected: option('any') })
    await asked(4)
    expect(form()).toContain('#502')
  })

  it('answers a click on Stop in the modal, and keeps the form', async () => {
    const { people, form, asked, openFind, behind } = await open()
    await openFind()
    await people.select(chooseProject())
    await asked(2)
    await people.clickInView({ user: ada, actionId: 'build_stop' })
    await asked(3)
    expect(form()).toContain('Stop requested')
    expect(behind.writes()).toEqual(['stop 202'])
    await people.select(chooseBranch('main'))
    await asked(4)
    expect(form()).toContain('#501')
  })

  it('answers a click in a modal that was closed meanwhile in a direct message', async () => {
    const { people, asked, openFind, hold, direct } = await open()
    await openFind()
    await people.select(chooseProject())
    await asked(2)
    const permit = hold()
    await people.clickInView({ user: ada, actionId: 'build_stop' })
    await permit.asked()
    await people.closeView({ user: ada })
    permit.end()
    await asked(3)
    expect(direct()).toEqual([expect.stringContaining('Stop requested')])
  })

  it('sends nothing to a person who closed it', async () => {
    const { people, slack, asked, openFind, hold } = await open()
    await openFind()
    const permit = hold()
    await people.select(chooseProject())
    await permit.asked()
    await people.closeView({ user: ada })
    permit.end()
    await asked(2)
    expect(slack.workspace.channels.has(DIRECT)).toBe(false)
  })

  it('shows text only if Slack refuses the blocks', async () => {
    const { people, slack, form, asked, openFind } = await open()
    await openFind()
    slack.faults.add({ kind: 'error', method: 'views.update', error: 'invalid_arguments', times: 1 })
    await people.select(chooseProject())
    await asked(2)
    expect(form()).toContain('#501')
    expect(form()).not.toContain('build_stop')
  })

  it('answers in a direct message if Slack refuses the modal', async () => {
    const { people, slack, asked, openFind, direct } = await open()
    await openFind()
    slack.faults.add({ kind: '5xx', method: 'views.update' })
    await people.select(chooseProject())
    await asked(2)
    expect(direct()).toEqual([expect.stringContaining('#501')])
  })

  it('shows the newest choice even if an older one is answered later', async () => {
    const { people, form, asked, openFind, hold } = await open()
    await openFind()
    const permit = hold()
    await people.select(chooseProject(API))
    await permit.asked()
    await people.select(chooseProject())
    await asked(2)
    permit.end()
    await asked(3)
    expect(form()).toContain('#501')
    expect(form()).not.toContain('No build yet')
  })

  it('says what to do if its metadata cannot be read: of another version, not JSON, nameless or empty', async () => {
    const { people, slack, form, asked, openFind } = await open()
    await openFind()
    let requests = 1
    for (const metadata of ['{"chosen":["41"]}', '41', '{"project":""}', '']) {
      await people.select(chooseProject())
      await asked((requests += 1))
      expect(form()).toContain('#501')
      slack.views.stack(ada)[0]!['private_metadata'] = metadata
      await people.select(chooseBranch('main'))
      await asked((requests += 1))
      expect(form(), metadata).toContain('*This search was opened in another version*')
      expect(form()).toContain(FIND_PROJECT_ID)
      expect(form()).not.toContain('#501')
    }
  })

  it('says so if there is no build', async () => {
    const { people, form, asked, openFind } = await open()
    await openFind()
    await people.select(chooseProject(API))
    await asked(2)
    expect(form()).toContain('No build yet')
  })

  it('closes when it is submitted, and does nothing the second time', async () => {
    const { people, slack, lines, asked, openFind } = await open()
    await openFind()
    await asked(1)
    expect(await people.submitView({ user: ada })).toMatchObject({ status: 200, body: '' })
    expect(await people.replay('view_submission')).toMatchObject({ status: 200, body: '' })
    expect(slack.views.stack(ada)).toEqual([])
    expect(lines).toMatchObject([{ level: 'info', fields: { what: 'find', outcome: 'opened' } }])
  })

  it('shows nothing to an outsider, and suggests no names', async () => {
    const { people, form, asked, hold } = await open()
    const refuse = () => hold().end({ kind: 'no', why: 'outsider', who: [] })
    await people.useGlobalShortcut({ ...OPEN, user: sol })
    await asked(1)
    refuse()
    const { options } = await people.suggest({ user: sol, actionId: FIND_PROJECT_ID, value: '' })
    expect(options).toEqual([])
    refuse()
    await people.select({ ...chooseProject(), user: sol })
    await asked(2)
    expect(form(sol)).toContain('you cannot see builds')
    expect(form(sol)).not.toContain('#501')
    refuse()
    await people.useGlobalShortcut({ ...OPEN, user: sol })
    await asked(3)
    expect(form(sol)).toContain('you cannot see builds')
  })

  it('that cannot be opened says so in a direct message, with the reference of its log line', async () => {
    const { people, slack, lines, asked, direct } = await open()
    slack.faults.add({ kind: 'error', method: 'views.open', error: 'expired_trigger_id' })
    await people.useGlobalShortcut(OPEN)
    await asked(1)
    expect(direct()).toEqual([answerNotOpened('late', '00000001').text])
    expect(lines).toMatchObject([{ level: 'info', fields: { reference: '00000001', what: 'find', isShown: true } }])
  })
})

describe('a choice outside of a modal', () => {
  it('does nothing, and says what to do in a direct message', async () => {
    const { slack, asked, direct } = await open()
    const actions = [{ type: 'external_select', action_id: FIND_PROJECT_ID, ...option(WEB) }]
    await slack.sender.send({
      what: 'a choice',
      contentType: 'application/x-www-form-urlencoded',
      body: new URLSearchParams({
        payload: JSON.stringify({ type: 'block_actions', user: { id: ada }, trigger_id: '1.sandbox', actions }),
      }).toString(),
    })
    await asked(1)
    expect(direct()).toEqual([answerOldSearch().text])
  })
})

describe('the project menu', () => {
  const SEARCH = { user: ada, actionId: FIND_PROJECT_ID, value: 'acme' }

  it('is empty if its options cannot be read, and the log says why', async () => {
    const { people, lines, openFind, failNext } = await open()
    await openFind()
    failNext()
    expect(await people.suggest(SEARCH)).toMatchObject({ acknowledgement: { status: 200 }, options: [] })
    expect(lines).toMatchObject([{ fields: { outcome: 'opened' } }, { level: 'warn', text: 'a menu has no options' }])
  })

  it(`is empty after ${SOON_MS} ms, before Slack gives up`, async () => {
    const clock = turnedClock()
    const { people, openFind, hold } = await open({ clock })
    await openFind()
    const permit = hold()
    const suggesting = people.suggest(SEARCH)
    await permit.asked()
    clock.advance(SOON_MS)
    expect(await suggesting).toMatchObject({ acknowledgement: { kind: 'answered' }, options: [] })
  })

  it(`has at most ${OPTIONS_MAX} options, and leaves out names that are too long for a value`, () => {
    const named = (name: string) => ({ projectId: null, uuid: null, type: 'basic', name })
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
