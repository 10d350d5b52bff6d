import { describe, expect, it } from 'vitest'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'
import { v2 } from '../../packages/sandbox-ci/test/support.ts'
import { rowsOf, until, WEBHOOK_SECRET } from '../support/app.ts'
import { buttonsOf, press, pressAgain, reload, type, untilAnswered, type World } from '../support/world.ts'
import { grace, lin, openProjects, projectIn, putsTo, saidBy, submit, topOf, untilModal } from './project-forms.ts'

const ADD = 'project_add_webhook'
const DOCS = 'acme/docs'

/** Somebody has just created a project at CI without a webhook rule. The bot has not read it yet. */
async function openWithNew(): Promise<World> {
  const world = await openProjects({ settings: { CI_ADMINS: `${grace},${lin}` } })
  const { status } = await v2(world.ci, 'POST', '/projects', {
    repository_url: `https://git.example.com/${DOCS}.git`,
    type: 'basic',
    team_ids: [7],
    setup_commands: ['npm ci'],
    environment_variables: [{ name: 'TOKEN', value: 'canary-of-docs' }],
    notification_rules: [{ notifier: 'email', email_target: 'all', build_statuses: ['failed'] }],
  })
  expect(status).toBeLessThan(300)
  return world
}

async function askDoctor(world: World, user: string = grace) {
  await type(world, user, '/ci doctor')
  return untilAnswered(world, user, [`${DOCS} has no webhook rule for Buildline`])
}

const webhooksOf = (world: World, name = DOCS): unknown[] =>
  projectIn(world, name).notification_rules.flatMap(({ notifier, options }) =>
    notifier === 'webhook' ? [options['url']] : [],
  )

const said = ({ slack }: World): string[] => slack.messages(CHANNELS.builds).map(({ text }) => String(text))

describe('"Add webhook rule"', () => {
  it('shows the difference, writes everything back, tells the channel, and deliveries of the project arrive', async () => {
    const world = await openWithNew()
    const before = structuredClone(projectIn(world, DOCS))
    const answer = await askDoctor(world)
    expect(buttonsOf(answer)).toEqual([ADD])
    const puts = putsTo(world).length
    await press(world, grace, answer, ADD)
    const difference = await untilModal(world, ['Send to CI', 'this changes', 'webhook', 'set to ••••••'])
    expect(putsTo(world)).toHaveLength(puts)
    await submit(world)
    await untilModal(world, ['Changed', 'set to ••••••'])
    expect(putsTo(world)).toHaveLength(puts + 1)
    expect(webhooksOf(world)).toEqual(webhooksOf(world, 'acme/web'))
    const { notification_rules: rules, ...rest } = projectIn(world, DOCS)
    expect({ ...before, ...rest, updated_at: '' }).toEqual({ ...before, updated_at: '' })
    expect(rules.slice(0, -1)).toEqual(before.notification_rules)
    await expect
      .poll(() => said(world).slice(-2), { timeout: 10_000 })
      .toEqual([expect.stringMatching(/ changed \*.*\*: notification rules/), expect.stringContaining('Changed')])
    world.ci.push(DOCS, { outcome: 'none' })
    await until('it was heard', () => rowsOf(world.folder, 'select 1 from heard where at > 0').length === 1)
    const shown = [answer, difference, topOf(world), said(world), world.app.lines].map(saidBy)
    const stored = saidBy(rowsOf(world.folder, 'select * from request'))
    for (const text of [...shown, stored]) expect(text).not.toMatch(new RegExp(`${WEBHOOK_SECRET}|canary-of-docs`))
  })

  it('clicked again later adds no second rule', async () => {
    const world = await openWithNew()
    const answer = await askDoctor(world)
    await press(world, grace, answer, ADD)
    await untilModal(world, ['Send to CI'])
    await submit(world)
    await untilModal(world, ['Changed'])
    await pressAgain(world, grace, answer, ADD)
    await untilModal(world, ['Nothing to change'])
    expect(webhooksOf(world)).toHaveLength(1)
  })

  it('does nothing for a person who is no longer an admin', async () => {
    const world = await openWithNew()
    const answer = await askDoctor(world, lin)
    Object.assign(world.settings, { CI_ADMINS: grace })
    await world.restartApp()
    await press(world, lin, answer, ADD)
    await untilModal(world, ['Not allowed'], lin)
    expect(webhooksOf(world)).toEqual([])
  })

  it("is missing if no rule has Buildline's address; an old button says so", async () => {
    const world = await openWithNew()
    const before = await askDoctor(world)
    world.ci.setWebhookUrl('http://127.0.0.1:9/webhooks/builds/yesterdays')
    await press(world, grace, before, ADD)
    await untilModal(world, ['No rule added'])
    reload(world)
    const after = await askDoctor(world)
    expect(buttonsOf(after)).toEqual([])
    expect(after.text).toContain('the address `https://&lt;host&gt;/webhooks/builds/&lt;WEBHOOK_SECRET&gt;`')
    expect(webhooksOf(world)).toEqual([])
  })
})
