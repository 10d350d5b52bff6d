import { describe, expect, it, onTestFinished } from 'vitest'
import { startGithub } from '../../packages/sandbox-github/test/support.ts'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { follower } from '../alerts/stage.ts'
import {
  databasePath,
  NOBODY,
  openStage,
  prepareStage,
  startApp,
  until,
  type RunningApp,
  type Settings,
} from '../support/app.ts'
import { channelId, T0 } from '../support/build-events.ts'

interface Line {
  level: number
  msg: string
}

const WARN = 40

const warningsOf = ({ lines }: Pick<RunningApp, 'lines'>): string[] =>
  lines
    .map((line): Line => JSON.parse(line))
    .filter(({ level }) => level >= WARN)
    .map(({ msg }) => msg)

/** A started app that has asked Slack. */
async function openAsked(settings: Settings = {}) {
  const stage = await openStage({ settings: { LOG_LEVEL: 'info', DEFAULT_CHANNEL: CHANNELS.builds, ...settings } })
  await until('Slack was asked who we are', () => stage.slack.counters.calls('auth.test') > 0)
  return stage
}

const oneWarning = (app: RunningApp) => until('it is said', () => warningsOf(app).length > 0 && warningsOf(app))

async function startWith(settings: Settings): Promise<RunningApp> {
  const { settings: all } = await prepareStage({ settings: { LOG_LEVEL: 'info', ...settings } })
  const app = await startApp(all)
  onTestFinished(() => app.stop())
  return app
}

describe('the start', () => {
  it('says that Slack refuses the bot token, as /readyz does, after the endpoint has opened', async () => {
    const { app } = await openAsked({ SLACK_BOT_TOKEN: 'xoxb-wrong-1' })
    expect(await oneWarning(app)).toEqual([
      expect.stringMatching(/^Slack refuses the bot \(invalid_auth\): fix SLACK_BOT_TOKEN/),
    ])
    expect(app.lines[0]).toContain('buildline is up')
  })

  it('says that Buildline is not in the configured channel, and how to invite it', async () => {
    const { app } = await openAsked({ DEFAULT_CHANNEL: CHANNELS.elsewhere })
    expect(await oneWarning(app)).toEqual([
      `Buildline is not in channel ${CHANNELS.elsewhere}. Type /invite @Buildline there.`,
    ])
  })

  it('names the setting of a channel that is gone', async () => {
    const { app } = await openAsked({ DEFAULT_CHANNEL: 'C0NOWHERE1' })
    expect(await oneWarning(app)).toEqual([
      'channel C0NOWHERE1 is gone, or private and Buildline is not in it. Type /invite @Buildline there, or correct DEFAULT_CHANNEL.',
    ])
  })

  it('names the scopes that the app lacks', async () => {
    const { settings, slack } = await prepareStage({
      settings: { LOG_LEVEL: 'info', DEFAULT_CHANNEL: CHANNELS.builds },
    })
    slack.acts.revokeScope('chat:write')
    slack.acts.revokeScope('users:read')
    const app = await startApp(settings)
    onTestFinished(() => app.stop())
    expect(await oneWarning(app)).toEqual([
      expect.stringMatching(/^The token lacks chat:write, users:read\. Paste manifest/),
    ])
  })

  it('warns that no channel has a subscription', async () => {
    const { settings } = await prepareStage({ settings: { LOG_LEVEL: 'info' } })
    const app = await startApp(settings)
    onTestFinished(() => app.stop())
    expect(await oneWarning(app)).toEqual([expect.stringMatching(/^No channel has a subscription, .* \/ci subscribe/)])
  })

  it('counts subscriptions that were made in Slack, and checks their channels', async () => {
    const { settings, folder } = await prepareStage({ settings: { LOG_LEVEL: 'info' } })
    const store = openSqlite(databasePath(folder))
    await store.migrate()
    const channel = channelId(CHANNELS.elsewhere)
    await store.write((tx) => tx.saveSubscription(follower(channel), { user: 'U0ADA', at: T0 }))
    await store.close()
    const app = await startApp(settings)
    onTestFinished(() => app.stop())
    expect(await oneWarning(app)).toEqual([`Buildline is not in channel ${channel}. Type /invite @Buildline there.`])
  })

  it('warns of nothing if everything is fine', async () => {
    const { app, slack } = await openAsked()
    await until('and how the channel stands', () => slack.counters.calls('conversations.info') > 0)
    expect((await fetch(`${app.url}/readyz`)).status).toBe(200)
    await app.stop()
    expect(warningsOf(app)).toEqual([])
    expect(slack.counters.calls('conversations.info')).toBe(1)
    expect(app.lines.join('\n')).toMatch(/"msg":"ready\. Slack: @\w+ in [^";]+, posts to #builds"/)
  })

  it.each([
    [
      'GitHub refuses its token',
      { GITHUB_TOKEN: 'github_pat_revoked' },
      /^GitHub does not accept GITHUB_TOKEN .* Make a new one/,
    ],
    [
      "CI refuses its interface's key",
      { CI_LEGACY_BASE_URL: NOBODY, CI_API_KEY: 'a-key' },
      /^could not read the projects from the legacy interface/,
    ],
    ['GitHub cannot be reached', { GITHUB_API_URL: NOBODY }, /^The request to GitHub about acme\/web failed/],
    ['Slack refuses the app token', { SLACK_APP_TOKEN: 'xapp-wrong-1' }, /^Slack refuses SLACK_APP_TOKEN/],
  ])('is not called ready if %s', async (_, settings, words) => {
    const { apiUrl, token } = (await startGithub()).address()
    const ofGithub = { GITHUB_API_URL: apiUrl, GITHUB_TOKEN: token, GITHUB_REPOSITORIES: 'acme/web' }
    const { app, slack } = await openAsked({ ...ofGithub, ...settings })
    await until('it is said', () => warningsOf(app).some((line) => words.test(line)))
    await until('and how the channel stands', () => slack.counters.calls('conversations.info') > 0)
    await app.stop()
    expect(app.lines.join('\n')).not.toContain('"msg":"ready')
  })

  it.each([
    ['over HTTP', {}],
    ['in Socket Mode', { SLACK_APP_TOKEN: 'xapp-sandbox-token' }],
  ])('says once, in words and without a stack, that Slack cannot be reached %s', async (_, settings) => {
    const app = await startWith({ SLACK_API_URL: NOBODY, DEFAULT_CHANNEL: CHANNELS.builds, ...settings })
    await oneWarning(app)
    await app.stop()
    expect(warningsOf(app)).toEqual([
      expect.stringMatching(/^Slack cannot be reached \(\w+\); messages wait until it can\. .* SLACK_API_URL/),
    ])
    expect(app.lines.join('')).not.toContain('"stack"')
  })

  it('says that Slack refuses the app token, and so does /readyz', async () => {
    const { app } = await openAsked({ SLACK_APP_TOKEN: 'xapp-wrong-1' })
    expect(await oneWarning(app)).toEqual([
      expect.stringMatching(/^Slack refuses SLACK_APP_TOKEN \(invalid_auth\): .* Make an app-level token/),
    ])
    const response = await fetch(`${app.url}/readyz`)
    expect([response.status, await response.json()]).toEqual([
      503,
      expect.objectContaining({
        slack: 'ok',
        socket: 'invalid_auth',
        wrong: [expect.stringContaining('SLACK_APP_TOKEN')],
      }),
    ])
    expect(await (await fetch(`${app.url}/metrics`)).text()).toMatch(/^buildline_slack_socket_open 0$/m)
    expect(app.lines.join('')).not.toContain('xapp-wrong-1')
  })
})
