import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startProgram } from '../../packages/build-steps/test/support.ts'
import { v2 } from '../../packages/sandbox-ci/test/support.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { NOBODY, rowsOf, until, WEBHOOK_SECRET } from '../support/app.ts'
import {
  buttonsOf,
  openScene,
  openWorld,
  press,
  pressAgain,
  reload,
  type,
  untilAnswered,
  type Scene,
  type World,
} from '../support/world.ts'
import { buildlineDoctor } from './doctor-stage.ts'
import { openProjects, projectIn, putsTo, saidBy, submit, topOf, untilModal } from './project-forms.ts'

const { ada, grace, lin } = PEOPLE
const secretsOf = ({ ci, slack }: Scene): string[] => [
  WEBHOOK_SECRET,
  slack.botToken,
  slack.signingSecret,
  ci.address().apiKey,
  ci.address().authorization.replace('Bearer ', ''),
]

/** Ensures that each project that CI shows has had deliveries. */
async function buildEverything({ ci, folder }: World): Promise<void> {
  for (const project of ['acme/web', 'acme/api', 'acme/ios']) ci.push(project, { outcome: 'none' })
  await until('all were heard', () => rowsOf(folder, 'select 1 from heard where at > 0').length === 3)
}

describe('/ci doctor', () => {
  it('tells admins what is wrong, and how to fix it', async () => {
    const world = await openWorld()
    world.slack.acts.revokeScope('files:write')
    await type(world, grace, '/ci doctor')
    const { text } = await untilAnswered(world, grace, ['Slack scopes'])
    expect(text).toContain(':stethoscope: *1 thing is wrong*')
    expect(text).toContain(':x: *Slack scopes*: The token lacks `files:write`.\n:wrench: Paste manifest.yml')
    expect(text).toContain(':white_check_mark: *CI, rights to write*')
    for (const secret of secretsOf(world)) expect(text).not.toContain(secret)
  })

  it('names the scope for e-mail addresses only if they are used, and how to add it', async () => {
    const world = await openWorld({ settings: { PEOPLE_BY_EMAIL: 'yes' } })
    await type(world, grace, '/ci doctor')
    const { text } = await untilAnswered(world, grace, ['Slack scopes'])
    expect(text).toContain(
      ':x: *Slack scopes*: The token lacks `users:read.email`.\n:wrench: Add `users:read.email` under',
    )
    expect(text).not.toContain('Paste manifest.yml')
    world.slack.acts.grantScope('users:read.email')
    await type(world, grace, '/ci doctor')
    await untilAnswered(world, grace, ['All scopes of the manifest are granted'])
  })

  it('tells others only who may run it', async () => {
    const world = await openWorld()
    await type(world, ada, '/ci doctor')
    const { text } = await untilAnswered(world, ada, ['Not allowed'])
    expect(text).toContain('you cannot run `/ci doctor`')
    expect(text).not.toContain('acme')
    expect(world.ci.calls().filter(({ method }) => method !== 'GET')).toEqual([])
  })
})

describe('buildline doctor', () => {
  it('exits with 0 beside a running bot if nothing is wrong', async () => {
    const world = await openWorld()
    await buildEverything(world)
    const { settings: env, folder: cwd } = world
    const { code, stdout: out, stderr: err } = await startProgram('buildline', ['doctor'], { env, cwd })
    expect([code, err], out).toEqual([0, ''])
    expect(out).toContain('ok    Webhook rules: 3 projects send every event.')
    expect(out.trimEnd().split('\n').at(-1)).toBe('Nothing is wrong.')
    for (const secret of secretsOf(world)) expect(out).not.toContain(secret)
  })

  it('exits with 1 if Slack cannot be reached, and does not call skipped checks fine', async () => {
    const world = await openWorld()
    await buildEverything(world)
    const { code, out } = await buildlineDoctor(world, { SLACK_API_URL: NOBODY })
    expect(code).toBe(1)
    expect(out).toContain('WRONG Slack token: The request to Slack failed (')
    expect(out.trimEnd().split('\n').at(-1)).toMatch(/^\d things? (?:is|are) wrong, and [1-9]\d* needs? a look\.$/)
  })

  it('exits with 1 if something is wrong, with its remedy and without secrets', async () => {
    const scene = await openScene()
    scene.ci.setWebhookUrl('http://127.0.0.1:9/webhooks/builds/yesterdays-secret')
    scene.slack.acts.kickBot(CHANNELS.builds)
    const { code, out, err } = await buildlineDoctor(scene, { CI_API_KEY: 'nobodys-key' })
    expect([code, err]).toEqual([1, ''])
    expect(out).toContain(
      `WRONG Channels: Buildline is not in channel ${CHANNELS.builds}.\n      → Type /invite @Buildline there.`,
    )
    expect(out).toContain(
      "WRONG CI, legacy interface: CI does not accept Buildline's credentials.\n      → Renew CI_API_KEY",
    )
    expect(out).toContain('WRONG Webhook rules: acme/web has a webhook rule with a wrong secret')
    for (const secret of [...secretsOf(scene), 'nobodys-key', 'yesterdays-secret']) expect(out).not.toContain(secret)
  })

  it('exits with 1 if Slack refuses the app token, and says where to make another one', async () => {
    const scene = await openScene()
    const { code, out } = await buildlineDoctor(scene, { SLACK_APP_TOKEN: 'xapp-wrong-1' })
    expect(code).toBe(1)
    expect(out).toMatch(
      /WRONG Requests from Slack: Slack does not accept the app token \(invalid_auth\) .*\n +→ Make an app-level token with connections:write .* SLACK_APP_TOKEN/,
    )
    expect(out).not.toContain('xapp-wrong-1')
  })

  it('says in the words of the start check that no channel has a subscription', async () => {
    const world = await openWorld({ settings: { DEFAULT_CHANNEL: '' } })
    const { code, out } = await buildlineDoctor(world)
    const what = 'No channel has a subscription, so no build is posted.'
    const remedy = 'Type /ci subscribe in a channel, or set DEFAULT_CHANNEL or SUBSCRIPTIONS_FILE.'
    expect([code, out]).toEqual([1, expect.stringContaining(`WRONG Channels: ${what}\n      → ${remedy}`)])
    await until('the log says it', () => world.app.lines.join('').includes(`"msg":"${what} ${remedy}"`))
  })

  it('finds a wrong signing secret, and so do /readyz and the log', async () => {
    const world = await openWorld({ settings: { SLACK_SIGNING_SECRET: 'a'.repeat(32) } })
    const command = { user: ada, channel: CHANNELS.builds, command: '/ci', text: 'help' }
    expect(await world.slack.people.runCommand(command)).toMatchObject({ status: 401 })
    const { code, out } = await buildlineDoctor(world, { PORT: new URL(world.app.url).port })
    expect([code, out]).toEqual([1, expect.stringContaining('WRONG Requests from Slack: 1 request had a wrong sig')])
    expect(out).toContain('→ Set SLACK_SIGNING_SECRET to the Signing Secret')
    const readyz = await fetch(`${world.app.url}/readyz`)
    expect([readyz.status, await readyz.json()]).toMatchObject([200, { signatures: { wrong: 1 } }])
    expect(world.app.lines.join('')).toContain('of 1 only the signature is wrong: check SLACK_SIGNING_SECRET')
  })

  it('exits with 0 before the first start, and creates no database', async () => {
    const scene = await openScene()
    scene.ci.setWebhookUrl(`http://127.0.0.1:9/webhooks/builds/${WEBHOOK_SECRET}`)
    const { code, out } = await buildlineDoctor(scene, { CI_SITE_URL: '', DATABASE_URL: 'sqlite:first/builds.db' })
    const first = 'Buildline creates it at its first start'
    const off = `CI, site (CI_SITE_URL) · GitHub (GITHUB_REPOSITORIES) · GitLab (GITLAB_PROJECTS) · Database (${first})`
    expect([code, out.trimEnd().split('\n').slice(-2)]).toEqual([0, [`-     Not set up: ${off}`, 'Nothing is wrong.']])
    expect(existsSync(join(scene.folder, 'first'))).toBe(false)
  })

  it('lists all faults of the settings, and of the file .env, at once, and exits with 1', async () => {
    const scene = await openScene()
    writeFileSync(join(scene.folder, '.env'), 'RETENTION_DAYS=canary')
    const { code, out } = await buildlineDoctor(scene, { WEBHOOK_SECRET: '', SLACK_BOT_TOKEN: 'canary' })
    expect(code).toBe(1)
    expect(out).toContain('WRONG Settings: WEBHOOK_SECRET is not set')
    expect(out).toContain('WRONG Settings: SLACK_BOT_TOKEN does not look right')
    expect(out).toContain('WRONG Settings: RETENTION_DAYS must be a whole number')
    expect(out).not.toContain('canary')
  })

  it('accepts no arguments', async () => {
    const scene = await openScene()
    const { code, err } = await buildlineDoctor(scene, {}, '--fast')
    expect([code, err]).toEqual([64, expect.stringContaining('buildline doctor --help')])
  })
})

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
    await expect.poll(() => said(world).at(-1), { timeout: 10_000 }).toMatch(/ changed \*.*\*: notification rules\.$/)
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
