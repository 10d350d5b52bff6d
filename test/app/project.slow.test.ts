import { describe, expect, it } from 'vitest'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'
import { rowsOf, settled, until } from '../support/app.ts'
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

/** The messages in #builds that everybody sees. */
const said = ({ slack }: Awaited<ReturnType<typeof openProjects>>) =>
  slack.messages(BUILDS).map(({ text }) => String(text))

describe('/ci project acme/web', () => {
  it("shows the project's settings and rules, and no secret", async () => {
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

  it('says that CI is away, and what to do', async () => {
    const world = await openProjects()
    world.ci.addFault({ kind: 'status', statusCode: 503, where: 'v2' })
    await type(world, lin, '/ci project acme/web')
    await untilAnswered(world, lin, ['could not be read', 'internal error', 'Try again in a few minutes'])
  })

  it('has admin buttons for admins only, and tells others who may', async () => {
    const world = await openProjects()
    await type(world, lin, '/ci project acme/web')
    const lins = await untilAnswered(world, lin, ['Repository:', 'Admins can edit it.'])
    expect(JSON.stringify(lins)).not.toContain('project_edit')
    await type(world, grace, '/ci project acme/web')
    const graces = await untilAnswered(world, grace, ['Repository:'])
    expect(JSON.stringify(graces)).toContain('project_edit')
    expect(graces.text).not.toContain('Admins can')
  })

  it('has words for what CI calls by number or by its own word', async () => {
    const world = await openProjects()
    await type(world, lin, '/ci project acme/web')
    const { text } = await untilAnswered(world, lin, ['*Team:* number `7` in CI'])
    expect(text).toContain('Status at the repository host: all builds of every branch')
    expect(text).toContain('• a script, from ')
  })

  it('offers both of two matching projects, and shows the chosen one', async () => {
    const world = await openProjects()
    await type(world, lin, '/ci project acme')
    const choice = await untilAnswered(world, lin, ['*3 projects* match'])
    await press(world, lin, choice, 'choose_1')
    await untilAnswered(world, lin, ['Repository:'])
  })
})

const webhookIn = (world: Awaited<ReturnType<typeof openProjects>>): string =>
  String(projectIn(world).notification_rules.find(({ notifier }) => notifier === 'webhook')?.options['url'])

describe('editing a project', () => {
  it('shows the difference, writes everything back, and tells the channel who did what', async () => {
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
    await until('the channel is told, after the form', () => said(world).length > 0)
    expect(said(world)).toEqual([`:pencil2: <@${grace}> changed *acme/web*: branches.`])
    expect(putsTo(world)).toHaveLength(1)
  })

  it('is refused in words to people who are no admins, typed or clicked', async () => {
    const world = await openProjects({ settings: { CI_ADMINS: `${grace},${lin}` } })
    await type(world, ada, '/ci project edit acme/web')
    await untilModal(world, ['Not allowed', 'create or edit projects'], ada)
    await type(world, lin, '/ci project acme/web')
    const shown = await untilAnswered(world, lin, ['Repository:'])
    Object.assign(world.settings, { CI_ADMINS: grace })
    await world.restartApp()
    await press(world, lin, shown, 'project_edit')
    await untilModal(world, ['Not allowed'], lin)
    expect(putsTo(world)).toEqual([])
  })

  it('shows what is wrong at the field, and the form stays', async () => {
    const world = await openProjects()
    await openPart(world, 'builds')
    const answer = await submit(world, { 'edit:branches': 'main\n^release' })
    expect(answer).toMatchObject({ errors: { 'edit:branches': expect.stringContaining('entry 2') } })
    expect(saidBy(topOf(world))).toContain('edit:branches')
  })

  it("by two people shows the second one the first one's change, and overwrites nothing unseen", async () => {
    const world = await openProjects({ settings: { CI_ADMINS: `${grace},${ada}` } })
    await compareBranches(world, 'main', ada)
    await compareBranches(world, 'develop', grace)
    await submit(world, {}, grace)
    await untilModal(world, ['Changed'], grace)
    await submit(world, {}, ada)
    await untilModal(world, ['Not sent', 'was changed in the meantime', 'Somebody else changed branches'], ada)
    expect(projectIn(world)).toMatchObject({ branches: ['develop'] })
    expect(putsTo(world)).toHaveLength(1)
  })

  it('works if the bot was restarted between form and sending', async () => {
    const world = await openProjects()
    await compareBranches(world, 'main')
    const address = webhookIn(world)
    await world.restartApp()
    // The new address would change the rules, which another test covers.
    world.ci.setWebhookUrl(address)
    await submit(world)
    await untilModal(world, ['Changed'])
    expect(projectIn(world)).toMatchObject({ branches: ['main'] })
  })

  it('with a form that Slack delivers twice is one write and one announcement', async () => {
    const world = await openProjects()
    await compareBranches(world, 'main')
    await submit(world)
    await world.slack.people.replay('view_submission')
    await untilModal(world, ['Changed'])
    await until('the channel is told', () => said(world).length > 0)
    await settled(world.app.url)
    expect(putsTo(world)).toHaveLength(1)
    expect(said(world).filter((text) => /changed \*acme\/web\*/.test(text))).toHaveLength(1)
  })

  it('keeps the value of an untouched variable, and shows none', async () => {
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
