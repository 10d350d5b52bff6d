import { describe, expect, it } from 'vitest'
import { answerNotOpened } from '../../../src/features/kit/fault-messages.ts'
import { describedFeatures } from '../../../src/features/features.ts'
import { createView } from '../../../src/features/projects/create-form.ts'
import { RESET_CALLBACK_ID, resetView } from '../../../src/features/projects/reset-form.ts'
import { EDIT_CALLBACK_ID, editView } from '../../../src/features/projects/edit-form.ts'
import { STREAK_CALLBACK_ID } from '../../../src/features/streaks/form.ts'
import { SUBSCRIBE_CALLBACK_ID } from '../../../src/features/subscriptions/form-view.ts'
import { INPUT_CHARS_MAX } from '../../../src/features/kit/fields.ts'
import { BASE_FIELDS_MAX, BASE_NAME_CHARS_MAX, baseOf } from '../../../src/features/projects/read.ts'
import { maskedProject } from '../../../src/domain/ci-project/masked-project.ts'
import { toUuid } from '../../../src/domain/ids.ts'
import type { ShownProject } from '../../../src/features/projects/outcomes.ts'
import { checkView } from '../../../packages/sandbox-slack/src/limits.ts'
import { openPeopleStage } from './people-stage.ts'
import { ada, BUILDS, grace, openStage } from './stage.ts'

const { fields: FIELDS, forms: FORMS } = describedFeatures()

const sent = (callbackId: string, metadata = '') => ({
  type: 'view_submission',
  view: { id: 'V1', type: 'modal', callback_id: callbackId, private_metadata: metadata, state: { values: {} } },
})

const shown = (raw: Record<string, unknown>, name = 'acme/web', setup: readonly string[] = []): ShownProject => ({
  project: { projectId: null, uuid: toUuid('0a1b2c3d-0000-4000-8000-0123456789ab'), name, type: 'basic' },
  masked: maskedProject({ type: 'basic', ...raw }),
  setup,
  build: null,
  base: {},
})

describe('a submitted form', () => {
  it('closes if it is unknown, and nothing happens', async () => {
    const { slack, calls } = await openStage()
    for (const body of [sent('form_of_long_ago'), { type: 'view_submission' }]) {
      const payload = JSON.stringify({ ...body, user: { id: ada } })
      const answer = await slack.sender.send({
        what: 'a form',
        contentType: 'application/x-www-form-urlencoded',
        body: new URLSearchParams({ payload }).toString(),
      })
      expect(answer).toMatchObject({ status: 200, body: '' })
    }
    expect(calls).toEqual([])
  })

  it.each([...FORMS])('(%s) of another version is answered at once, without an exception', (callbackId, form) => {
    for (const metadata of ['', 'null', '{"project":1}', '[]', 'x'.repeat(3_000)]) {
      const received = form.receive(sent(callbackId, metadata))
      expect(received.ack?.response_action).toBeOneOf(['update', 'push', 'errors'])
    }
  })

  it.each([SUBSCRIBE_CALLBACK_ID, STREAK_CALLBACK_ID, EDIT_CALLBACK_ID, RESET_CALLBACK_ID])(
    '(%s) of another version says that nothing was done',
    (callbackId) => {
      const { ack } = FORMS.get(callbackId)!.receive(sent(callbackId))
      expect(JSON.stringify(ack)).toContain('opened in another version')
    },
  )

  it('has a readable name for messages about interruptions', () => {
    for (const { what } of FORMS.values()) expect(what).toMatch(/^[a-z][a-zA-Z ]+$/)
  })
})

describe('if an interaction cannot be stored', () => {
  it('a submitted form says above its fields that nothing was done, and keeps its values', async () => {
    const { slack, store, untilForm } = await openPeopleStage()
    const { people, views } = slack
    await people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'project create' })
    await untilForm('create:repository_url')
    await store.close()
    const values = {
      'create:repository_url': { value: { type: 'plain_text_input', value: 'https://host/acme/shop' } },
      'create:team_ids': { value: { type: 'plain_text_input', value: '7' } },
    }
    await people.submitView({ user: ada, values })
    const [form, top] = views.stack(ada)
    expect(JSON.stringify(top)).toContain('nothing was done')
    expect(JSON.stringify(form)).toContain('https://host/acme/shop')
  })
})

describe('the answer to a submitted form', () => {
  async function submit(fault: 'closed' | 'no blocks' | 'refused' | null) {
    const { slack, asked, form, untilForm } = await openPeopleStage()
    const { people, faults } = slack
    await people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'subscribe' })
    await untilForm('subscribe_project')
    const { options } = await people.suggest({ user: ada, actionId: 'subscribe_project', value: 'web' })
    await people.select({ user: ada, actionId: 'subscribe_project', selected: { selected_option: options[0] } })
    const method = 'views.update'
    if (fault === 'closed') faults.add({ kind: 'error', method, error: 'not_found' })
    if (fault === 'no blocks') faults.add({ kind: 'error', method, error: 'invalid_arguments', times: 1 })
    if (fault === 'refused') faults.add({ kind: '5xx', method })
    await people.submitView({ user: ada })
    await asked(2)
    const direct = `D${ada.slice(1)}`
    const texts = slack.workspace.channels.has(direct) ? slack.messages(direct).map(({ text }) => text) : []
    return { form: form(), direct: texts }
  }

  it('is shown in the modal', async () => {
    expect(await submit(null)).toEqual({ form: expect.stringContaining('*Subscribed* to'), direct: [] })
  })

  it('is text only if Slack refuses its blocks', async () => {
    expect(await submit('no blocks')).toEqual({ form: expect.stringContaining('*Subscribed* to'), direct: [] })
  })

  it.each(['closed', 'refused'] as const)('is a direct message if the modal is %s', async (fault) => {
    const { form, direct } = await submit(fault)
    expect(form).not.toContain('*Subscribed*')
    expect(direct).toEqual([expect.stringContaining('*Subscribed* to')])
  })
})

describe('a form that Slack no longer opens', () => {
  it.each(['subscribe', 'project edit acme/web', 'project create'])('(/ci %s) is said to be too late', async (text) => {
    const { slack, type } = await openPeopleStage()
    slack.faults.add({ kind: 'error', method: 'views.open', error: 'expired_trigger_id' })
    expect(await type(text, { user: grace })).toBe(answerNotOpened('late', '00000001').text)
  })
})

describe('the forms of projects', () => {
  const parts = ['builds', 'setup', 'variables', 'teams', 'type', 'rule:new', 'rule:0', 'rule:1']
  const LONG = '<!channel> *x* שלום \u202e & "'.repeat(400)
  const raws: [name: string, raw: Record<string, unknown>][] = [
    [
      'usual',
      {
        branches: ['main'],
        notification_rules: [{ notifier: 'slack', build_statuses: ['failed'], options: { key: 'k' } }],
      },
    ],
    ['bare', { type: 'basic' }],
    [
      'hostile and long',
      {
        branches: [LONG],
        team_ids: [LONG],
        environment_variables: [{ name: LONG }],
        notification_rules: Array.from({ length: 150 }, () => ({
          notifier: LONG,
          branch: LONG.slice(0, 2_000),
          build_statuses: Array.from({ length: 30 }, (_, n) => `${n}${LONG}`),
          target: LONG,
        })),
      },
    ],
  ]

  it.each([
    ['have the four that CI documents', ['failed'], ['started', 'failed', 'success', 'recovered']],
    ['also have others from CI', ['failed', 'waiting'], ['started', 'failed', 'success', 'recovered', 'waiting']],
  ])('show events of a rule that %s', (_, has, offered) => {
    const rule = { notifier: 'email', build_statuses: has }
    const { blocks } = editView(shown({ notification_rules: [rule] }), 'rule:0', BUILDS)
    const events = { block_id: 'rule:0:events', element: { options: offered.map((value) => ({ value })) } }
    expect(blocks.filter((block) => 'block_id' in block && block.block_id === events.block_id)).toMatchObject([events])
  })

  it.each(raws)('(%s) are valid modals for Slack, whichever part is chosen', (_, raw) => {
    for (const part of [null, ...parts, 'part-of-long-ago']) {
      const view = editView(shown(raw, LONG.slice(0, 200), [LONG]), part, BUILDS)
      expect({ part, problems: checkView(view) }).toEqual({ part, problems: [] })
    }
    expect(checkView(createView('', BUILDS))).toEqual([])
    expect(checkView(resetView(shown(raw, LONG.slice(0, 200)), null))).toEqual([])
  })

  it('offer a hundred things to change, and say how many rules are missing there', () => {
    const rule = { notifier: 'slack', build_statuses: ['failed'], options: { key: 'k' } }
    const view = (rules: number) =>
      JSON.stringify(editView(shown({ notification_rules: Array.from({ length: rules }, () => rule) }), null, BUILDS))
    expect(view(94)).toContain('Rule 94:')
    expect(view(94)).not.toContain('not listed')
    expect(view(95)).toContain('The last rule is not listed')
    expect(view(200)).toContain('The last 106 rules are not listed')
  })

  it('have no more metadata than Slack allows', () => {
    const options = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`${n}${'o'.repeat(149)}`, 'x']))
    const rule = { notifier: 'n'.repeat(150), build_statuses: ['failed'], options }
    const fields = Array.from({ length: BASE_FIELDS_MAX + 1 }, (_, n) => [
      `${n}${'x'.repeat(99)}`.slice(0, BASE_NAME_CHARS_MAX),
      1,
    ])
    const base = baseOf(Object.fromEntries(fields), 'key')
    for (const part of [null, 'builds', 'rule:0']) {
      const view = editView({ ...shown({ notification_rules: [rule] }, '"'.repeat(200)), base }, part, BUILDS)
      expect(checkView(view)).toEqual([])
    }
  })

  it('create with a truncated address if it is too long, and refuse it in that form', () => {
    const view = createView(`https://host/acme/${'x'.repeat(INPUT_CHARS_MAX)}`, null)
    expect(checkView(view)).toEqual([])
    expect(JSON.stringify(view)).toContain('x…"')
  })

  it.each(['A=x••••••', 'A=••••••x', 'A=B=••••••'])(
    'accept no value with half a mask (%s), which would be stored as it is',
    (text) => {
      const values = { 'edit:environment_variables': { value: { type: 'plain_text_input', value: text } } }
      const memory = editView(shown({}), 'variables', BUILDS).private_metadata ?? ''
      const body = { ...sent(EDIT_CALLBACK_ID, memory) }
      const received = FORMS.get(EDIT_CALLBACK_ID)!.receive({ ...body, view: { ...body.view, state: { values } } })
      expect(received.ack).toMatchObject({
        errors: { 'edit:environment_variables': expect.stringContaining('entry 1: leave ••••••') },
      })
    },
  )

  it('have no field for a value that is too long for one, and say so', () => {
    const name = (length: number) => editView(shown({ branches: ['x'.repeat(length)] }), 'builds', BUILDS)
    expect(name(3_000).submit).toBeDefined()
    expect(name(3_001).submit).toBeUndefined()
    expect(JSON.stringify(name(3_001))).toContain('3,000 characters')
  })

  it('report the chosen part, and the part has a handler', () => {
    expect(FIELDS.has('project_part')).toBe(true)
  })
})
