import { describe, expect, it } from 'vitest'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'
import { rowsOf, settled } from '../support/app.ts'
import { answersTo, press, type, untilAnswered } from '../support/world.ts'
import {
  ada,
  compareBranches,
  grace,
  lin,
  openPart,
  openProjects,
  projectIn,
  putsTo,
  saidBy,
  submit,
  topOf,
  untilModal,
} from './project-forms.ts'

const { builds: BUILDS } = CHANNELS

/** The messages that everybody sees in #builds. */
const said = ({ slack }: Awaited<ReturnType<typeof openProjects>>) =>
  slack.messages(BUILDS).map(({ text }) => String(text))

describe('/ci project acme/web', () => {
  it('shows what it is, what it builds and whom it tells, and no secret', async () => {
    const world = await openProjects()
    await type(world, lin, '/ci project acme/web')
    const { text } = await untilAnswered(world, lin, ['acme/web', 'Basic', 'Repository:'])
    expect(text).toContain('git.example.com/acme/web.git')
    expect(text).toContain('builds every branch')
    expect(text).toContain('E-mail: all builds of every branch')
    expect(text).toContain('Webhook: all builds of every branch')
    expect(text).toContain('`npm ci`')
    expect(text).toContain('`NODE_ENV`')
    expect(text).not.toContain('NODE_ENV=test')
    const secrets = projectIn(world).notification_rules.flatMap(({ options }) => Object.values(options))
    expect(secrets.length).toBeGreaterThan(1)
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
  })

  it('says what CI said last while CI is away, and offers nothing then', async () => {
    const world = await openProjects()
    world.ci.addFault({ kind: 'status', statusCode: 503, where: 'v2' })
    await type(world, lin, '/ci project acme/web')
    const answer = await untilAnswered(world, lin, ['internal error', 'what CI said last', 'builds every branch'])
    expect(JSON.stringify(answer)).not.toContain('project_edit')
    expect(answer.text).toContain('Slack: all builds of every branch')
  })

  it('offers what only an admin may to an admin alone, and tells others who may', async () => {
    const world = await openProjects()
    await type(world, lin, '/ci project acme/web')
    const lins = await untilAnswered(world, lin, ['Repository:', 'Admins can edit it.'])
    expect(JSON.stringify(lins)).not.toContain('project_edit')
    await type(world, grace, '/ci project acme/web')
    const graces = await untilAnswered(world, grace, ['Repository:'])
    expect(JSON.stringify(graces)).toContain('project_edit')
    expect(graces.text).not.toContain('Admins can')
  })

  it('has words for what CI calls by number or by a word of its own', async () => {
    const world = await openProjects()
    await type(world, lin, '/ci project acme/web')
    const { text } = await untilAnswered(world, lin, ['*Team:* number `7` in CI'])
    expect(text).toContain('Status at the repository host: all builds of every branch')
    expect(text).toContain('• a script, from ')
  })

  it('of two that are meant offers both, and the chosen one is shown', async () => {
    const world = await openProjects()
    await type(world, lin, '/ci project acme')
    const choice = await untilAnswered(world, lin, ['*3 projects* match'])
    await press(world, lin, choice, 'choose_1')
    await untilAnswered(world, lin, ['Repository:'])
  })
})

const webhookIn = (world: Awaited<ReturnType<typeof openProjects>>): string =>
  String(projectIn(world).notification_rules.find(({ notifier }) => notifier === 'webhook')?.options['url'])

describe('editing', () => {
  it('shows the difference first, writes all back, and tells the channel who did what', async () => {
    const world = await openProjects()
    const before = structuredClone(projectIn(world))
    const view = await compareBranches(world, 'main\n^release/.*$')
    expect(saidBy(view)).toContain(':heavy_plus_sign: `main`')
    expect(putsTo(world)).toEqual([])
    await submit(world)
    await untilModal(world, ['Changed', 'CI has saved it, and nothing else has changed.'])
    await world.slack.people.closeView({ user: grace })
    expect(world.slack.views.stack(grace), 'the filled-in form closes with the answer').toEqual([])
    const after = projectIn(world)
    expect(after).toMatchObject({ branches: ['main', '^release/.*$'], branch_match: 'include' })
    expect({ ...after, branches: [], updated_at: '' }).toEqual({ ...before, branches: [], updated_at: '' })
    const [announced, result] = said(world).slice(-2)
    expect(announced).toContain(`<@${grace}> is changing *acme/web*: branches`)
    expect(result).toContain('Changed')
    expect(putsTo(world)).toHaveLength(1)
  })

  it('is refused to who is no admin, in words, whether typed or clicked', async () => {
    const world = await openProjects({ settings: { CI_ADMINS: `${grace},${lin}` } })
    await type(world, ada, '/ci project edit acme/web')
    await untilModal(world, ['Not allowed', 'create and change projects'], ada)
    await type(world, lin, '/ci project acme/web')
    const shown = await untilAnswered(world, lin, ['Repository:'])
    Object.assign(world.settings, { CI_ADMINS: grace })
    await world.restartApp()
    await press(world, lin, shown, 'project_edit')
    await untilModal(world, ['Not allowed'], lin)
    expect(putsTo(world)).toEqual([])
  })

  it('says at the field what is wrong, and the form stays', async () => {
    const world = await openProjects()
    await openPart(world, 'builds')
    const answer = await submit(world, { 'edit:branches': 'main\n^release' })
    expect(answer).toMatchObject({ errors: { 'edit:branches': expect.stringContaining('line 2') } })
    expect(saidBy(topOf(world))).toContain('edit:branches')
  })

  it('by two people: the second sees what the first has changed, and overwrites nothing unseen', async () => {
    const world = await openProjects({ settings: { CI_ADMINS: `${grace},${ada}` } })
    await compareBranches(world, 'main', ada)
    await compareBranches(world, 'develop', grace)
    await submit(world, {}, grace)
    await untilModal(world, ['Changed'], grace)
    await submit(world, {}, ada)
    await untilModal(world, ['Not sent', 'was changed in the meantime', `<@${grace}>`, 'branches'], ada)
    expect(projectIn(world)).toMatchObject({ branches: ['develop'] })
    expect(putsTo(world)).toHaveLength(1)
  })

  it('works when the bot was started anew between the form and its sending', async () => {
    const world = await openProjects()
    await compareBranches(world, 'main')
    const address = webhookIn(world)
    await world.restartApp()
    // It listens elsewhere now, which is a change to the rules of CI: of that another test tells.
    world.ci.setWebhookUrl(address)
    await submit(world)
    await untilModal(world, ['Changed'])
    expect(projectIn(world)).toMatchObject({ branches: ['main'] })
  })

  it('whose submission Slack delivers twice is one write and one announcement', async () => {
    const world = await openProjects()
    await compareBranches(world, 'main')
    await submit(world)
    await world.slack.people.replay('view_submission')
    await untilModal(world, ['Changed'])
    await settled(world.app.url)
    expect(putsTo(world)).toHaveLength(1)
    expect(said(world).filter((text) => text.includes('is changing *acme/web*'))).toHaveLength(1)
  })

  it('keeps a variable whose value was not touched, and shows none', async () => {
    const world = await openProjects()
    const view = await openPart(world, 'variables')
    expect(saidBy(view)).toContain('NODE_ENV=••••••')
    await submit(world, { 'edit:environment_variables': 'NODE_ENV=••••••\nTOKEN=canary-typed-value' })
    const difference = await untilModal(world, ['Send to CI', 'variable `TOKEN`', 'set to ••••••'])
    expect(saidBy(difference)).not.toContain('canary-typed-value')
    await submit(world)
    await untilModal(world, ['Changed'])
    expect(projectIn(world)).toMatchObject({
      environment_variables: [
        { name: 'NODE_ENV', value: 'test' },
        { name: 'TOKEN', value: 'canary-typed-value' },
      ],
    })
    expect(world.app.lines.join('\n')).not.toContain('canary-typed-value')
    expect(JSON.stringify(rowsOf(world.folder, 'select * from request'))).not.toContain('canary-typed-value')
    expect(
      answersTo(world, grace)
        .map(({ text }) => text)
        .join(),
    ).not.toContain('canary-typed-value')
  })
})
