import { describe, expect, onTestFinished, test } from 'vitest'
import { startGithub } from '../../packages/sandbox-github/test/support.ts'
import type { SandboxGithub } from '../../packages/sandbox-github/src/server.ts'
import { pushed, startGitlab, startReceiver } from '../../packages/sandbox-gitlab/test/support.ts'
import type { SandboxGitlab } from '../../packages/sandbox-gitlab/src/server.ts'
import { IN_PLAIN_TEXT, type CheckResult, type Host, type HostName } from '../../src/features/doctor/findings.ts'
import { checkHost, githubHost, gitlabHost } from '../../src/features/doctor/hosts.ts'
import { verdictOf } from '../../src/features/doctor/checks.ts'
import { findingWords } from '../../src/features/doctor/words.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createGithubClient } from '../../src/sources/github/client.ts'
import { createGitlabClient } from '../../src/sources/gitlab/client.ts'
import { createTransport } from '../../src/sources/http/transport.ts'

function opened() {
  const transport = createTransport({ clock: systemClock })
  onTestFinished(() => transport.close())
  return transport
}

const ofGithub = (github: SandboxGithub, projects: readonly string[], token = github.address().token) =>
  githubHost(createGithubClient({ apiUrl: github.address().apiUrl, token, transport: opened() }), projects)

const ofGitlab = (gitlab: SandboxGitlab, projects: readonly string[], token = gitlab.address().token) =>
  gitlabHost(createGitlabClient({ url: gitlab.address().url, token, transport: opened() }), projects)

const check = (name: HostName, host: Host) => checkHost(name)({ hosts: { github: null, gitlab: null, [name]: host } })

/** `wrong: what. remedy` for each finding, except those about the rate limit. */
const said = (name: HostName, found: readonly CheckResult[]) =>
  found
    .filter(({ kind }) => kind !== 'host-rate')
    .map((what) => {
      const { what: words, remedy } = findingWords({ check: name, what }, IN_PLAIN_TEXT)
      return `${verdictOf({ check: name, what })}: ${words}${remedy === null ? '' : ` ${remedy}`}`
    })

describe('GitHub', () => {
  const shown = 'fine: The runs of 1 repository can be read.'
  const failing =
    /^wrong: The last delivery for acme\/web failed \(502 failed to connect to host\)\. .*GITHUB_WEBHOOK_SECRET/

  async function hooked(url = 'http://127.0.0.1:9/behind-a-proxy/webhooks/github') {
    const github = await startGithub()
    github.setWebhookUrl(url)
    await github.settle()
    return github
  }

  test('is checked for each repository: can the token read its runs?', async () => {
    const github = await startGithub()
    const refused = { kind: 'host-refuses', host: 'github', reason: expect.anything() }
    expect(await check('github', ofGithub(github, ['acme/web', 'acme/gone']))).toMatchObject([
      { ...refused, name: 'acme/gone', code: 'not-found' },
      { kind: 'host-hook', names: ['acme/web'] },
      { kind: 'host-rate' },
    ])
    expect(await check('github', ofGithub(github, ['acme/web'], 'a-token-of-nobody'))).toEqual([
      { ...refused, name: 'acme/web', code: 'unauthorized' },
    ])
  })

  test('needs no webhook; repositories without one are listed together', async () => {
    const github = await startGithub()
    expect(said('github', await check('github', ofGithub(github, ['acme/web', 'acme/api'])))).toEqual([
      'fine: The runs of 2 repositories can be read.',
      expect.stringMatching(/^off: acme\/web, acme\/api: no webhook of its own\. Polling .*<host>\/webhooks\/github/),
    ])
    github.setWebhookUrl('https://example.com/webhooks/of-somebody-else')
    expect(said('github', await check('github', ofGithub(github, ['acme/web'])))[1]).toMatch(
      /^off: acme\/web: no webhook/,
    )
  })

  test("an unanswered webhook is reported with GitHub's reason, and a working one is not", async () => {
    const github = await hooked()
    expect(said('github', await check('github', ofGithub(github, ['acme/web'])))).toEqual([
      shown,
      expect.stringMatching(failing),
    ])
    const receiver = await startReceiver()
    github.setWebhookUrl(receiver.url.replace(/hook$/, 'webhooks/github'))
    await github.settle()
    expect(said('github', await check('github', ofGithub(github, ['acme/web'])))).toEqual([shown])
  })

  test.each([
    [{ isActive: false }, 'wrong: The webhook of acme/web is switched off. Switch it on in the settings at GitHub.'],
    [
      { events: ['push'] },
      'wrong: The webhook of acme/web does not send builds. Select Workflow runs in the settings at GitHub.',
    ],
    [{ contentType: 'form' as const }, /^wrong: .* sends forms.*application\/json/],
    [{ events: ['*'] }, failing],
  ])('reports a webhook with %j', async (change, words) => {
    const github = await hooked()
    github.changeHook('acme/web', change)
    const [, hook] = said('github', await check('github', ofGithub(github, ['acme/web'])))
    expect(hook).toEqual(typeof words === 'string' ? words : expect.stringMatching(words))
  })

  test('is fine with a token that may not read webhooks', async () => {
    const github = await hooked()
    github.hideHooks(true)
    expect(said('github', await check('github', ofGithub(github, ['acme/web'])))).toEqual([
      shown,
      expect.stringMatching(/^off: The token cannot see the webhooks of acme\/web\..*Webhooks: Read-only/),
    ])
  })

  test('shows the rest of the rate limit, and warns below a tenth', async () => {
    const github = await startGithub()
    const rate = async () => (await check('github', ofGithub(github, ['acme/web']))).at(-1)!
    const words = async () => findingWords({ check: 'github', what: await rate() }, IN_PLAIN_TEXT)
    expect(verdictOf({ check: 'github', what: await rate() })).toBe('fine')
    expect(await words()).toEqual({
      what: expect.stringMatching(/^49\d\d of 5000 calls to GitHub are left until 2/),
      remedy: null,
    })
    github.spend(4_600)
    expect(verdictOf({ check: 'github', what: await rate() })).toBe('unsure')
    expect((await words()).remedy).toContain('GITHUB_TOKEN')
  })
})

describe('GitLab', () => {
  const shown = 'fine: The pipelines of 1 project can be read.'

  test('needs no webhook, and shows no rate limit if GitLab gives none', async () => {
    const gitlab = await startGitlab()
    expect(await check('gitlab', ofGitlab(gitlab, ['acme/web']))).toEqual([
      { kind: 'fine', count: 1 },
      { kind: 'host-hook', host: 'gitlab', names: ['acme/web'], hook: { state: 'none' } },
    ])
    gitlab.setRate({ limit: 2_000, remaining: 150, reset: 1_800_000_000 })
    const rate = { limit: 2_000, left: 150, resetAt: 1_800_000_000_000 }
    const what: CheckResult = { kind: 'host-rate', host: 'gitlab', rate }
    expect((await check('gitlab', ofGitlab(gitlab, ['acme/web']))).at(-1)).toEqual(what)
    expect(verdictOf({ check: 'gitlab', what })).toBe('unsure')
  })

  test('reports a webhook that failed too often until it works', async () => {
    const gitlab = await startGitlab()
    const receiver = await startReceiver()
    gitlab.setWebhookUrl(receiver.url.replace(/hook$/, 'webhooks/gitlab'))
    expect(said('gitlab', await check('gitlab', ofGitlab(gitlab, ['acme/web'])))).toEqual([shown])
    receiver.statusCode = 401
    for (const _ of [1, 2, 3, 4]) pushed(gitlab)
    await gitlab.settle()
    expect(said('gitlab', await check('gitlab', ofGitlab(gitlab, ['acme/web'])))).toEqual([
      shown,
      expect.stringMatching(/^wrong: The last delivery for acme\/web failed \(switched off for a while\)/),
    ])
  })

  test.each([
    [{ isDisabled: true }, 'wrong: The webhook of acme/web is switched off. Switch it on in the settings at GitLab.'],
    [
      { hasPipelines: false },
      'wrong: The webhook of acme/web does not send builds. Select Pipeline events in the settings at GitLab.',
    ],
  ])('reports a webhook with %j', async (change, words) => {
    const gitlab = await startGitlab({ webhookUrl: 'http://127.0.0.1:9/webhooks/gitlab' })
    gitlab.changeHook(change)
    expect(said('gitlab', await check('gitlab', ofGitlab(gitlab, ['acme/web'])))).toEqual([shown, words])
  })

  test('is fine with a token that may not read webhooks', async () => {
    const gitlab = await startGitlab()
    gitlab.setSwitches({ areHooksHidden: true })
    expect(said('gitlab', await check('gitlab', ofGitlab(gitlab, ['acme/web'])))).toEqual([
      shown,
      expect.stringMatching(/^off: The token cannot see .* give the token the role Maintainer\.$/),
    ])
  })
})
