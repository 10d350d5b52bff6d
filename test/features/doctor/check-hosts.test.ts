import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HEALTHY } from '../../../packages/demo/src/samples/healthy.ts'
import type { SandboxGithub } from '../../../packages/sandbox-github/src/server.ts'
import { pushed, startGithub } from '../../../packages/sandbox-github/test/support.ts'
import type { SandboxGitlab } from '../../../packages/sandbox-gitlab/src/server.ts'
import { pushed as pipelined, startGitlab, startReceiver } from '../../../packages/sandbox-gitlab/test/support.ts'
import { legacy } from '../../../src/features/doctor/check-ci.ts'
import { github, gitlab } from '../../../src/features/doctor/check-hosts.ts'
import { database } from '../../../src/features/doctor/checks.ts'
import { certificateFault } from '../../../src/lib/error-code.ts'
import { createClientLegacy } from '../../../src/sources/ci-service/client-legacy.ts'
import { createGithubClient } from '../../../src/sources/github/client.ts'
import { createGitlabClient } from '../../../src/sources/gitlab/client.ts'
import { CiError } from '../../../src/sources/http/errors.ts'
import { openPostgres } from '../../../src/store/postgres.ts'
import { storeFaultOf } from '../../../src/store/health.ts'
import { testFolder } from '../../support/app.ts'
import { selfSigned, startHttps, startPostgresTls } from '../../support/certificate.ts'
import { openTransport, said } from './stage.ts'

const ofGithub = (apiUrl: string, token: string, repositories = ['acme/web']) => ({
  config: { ...HEALTHY.config, github: { repositories } },
  github: createGithubClient({ apiUrl, token, transport: openTransport() }),
})

const ofGitlab = (url: string, token: string) => ({
  config: { ...HEALTHY.config, gitlab: { projects: ['acme/web'] } },
  gitlab: createGitlabClient({ url, token, transport: openTransport() }),
})

/** Without the rate limit. */
const ofBuilds = (lines: readonly string[]) => lines.filter((line) => !line.includes(' calls to '))

const REVIEW = { environment: '1', state: 'approved', comment: '' } as const

describe('GitHub', () => {
  const failing =
    /^wrong: The last delivery for acme\/web failed \(502 failed to connect to host\)\. .*GITHUB_WEBHOOK_SECRET/

  const lines = (sandbox: SandboxGithub, repositories = ['acme/web']) => {
    const { apiUrl, token } = sandbox.address()
    return said(github, ofGithub(apiUrl, token, repositories))
  }
  const found = async (...asked: Parameters<typeof lines>) => ofBuilds(await lines(...asked))

  async function hooked(url = 'http://127.0.0.1:9/behind-a-proxy/webhooks/github') {
    const sandbox = await startGithub()
    sandbox.setWebhookUrl(url)
    await sandbox.settle()
    return sandbox
  }

  it('needs no webhook; repositories without one are listed together, and one that is not shown is named', async () => {
    const sandbox = await startGithub()
    expect(await found(sandbox, ['acme/web', 'acme/api'])).toEqual([
      'fine: The runs of 2 repositories can be read.',
      expect.stringMatching(/^off: no webhook to .*<host>\/webhooks\/github in acme\/web, acme\/api; polling/),
    ])
    sandbox.setWebhookUrl('https://example.com/webhooks/of-somebody-else')
    expect(await found(sandbox, ['acme/web', 'acme/gone'])).toEqual([
      expect.stringMatching(/^wrong: GitHub does not show acme\/gone to the token\. It says: /),
      expect.stringMatching(/^off: no webhook to .* in acme\/web;/),
    ])
  })

  it('says once that the token is refused, however many repositories there are', async () => {
    const { apiUrl } = (await startGithub()).address()
    const refused = await said(github, ofGithub(apiUrl, 'github_pat_revoked', ['acme/web', 'acme/api']))
    expect(refused).toEqual([expect.stringMatching(/^wrong: GitHub does not accept GITHUB_TOKEN/)])
  })

  it("says why GitHub's webhook has no answer, and nothing of one that works", async () => {
    const shown = 'fine: The runs of 1 repository can be read.'
    const sandbox = await hooked()
    expect(await found(sandbox)).toEqual([shown, expect.stringMatching(failing)])
    const receiver = await startReceiver()
    sandbox.setWebhookUrl(receiver.url.replace(/hook$/, 'webhooks/github'))
    await sandbox.settle()
    expect(await found(sandbox)).toEqual([shown])
  })

  it.each([
    [
      { isActive: false },
      /^wrong: The webhook of acme\/web is switched off\. Switch it on in the settings at GitHub\.$/,
    ],
    [{ events: ['push'] }, /^wrong: The webhook of acme\/web does not send builds\. Select Workflow runs in the set/],
    [{ contentType: 'form' as const }, /^wrong: .* sends forms.*application\/json/],
    [{ events: ['*'] }, failing],
  ])('names a webhook with %j', async (change, words) => {
    const sandbox = await hooked()
    sandbox.changeHook('acme/web', change)
    expect((await found(sandbox))[1]).toMatch(words)
  })

  it('is fine with a token that may not read webhooks', async () => {
    const sandbox = await hooked()
    sandbox.lack('repository_hooks=read')
    expect((await found(sandbox))[1]).toMatch(/^off: .* cannot see the webhooks of acme\/web .*Webhooks: Read-only$/)
  })

  it('names the permissions that a token lacks, where it can see that without changing anything', async () => {
    const sandbox = await startGithub()
    const failed = pushed(sandbox)
    sandbox.finish(failed.id, 'failure')
    const rights = async () => (await found(sandbox)).slice(2)
    expect(await rights()).toEqual([])
    sandbox.lack('checks=read', 'contents=read', 'actions=write')
    expect(await rights()).toEqual([
      expect.stringMatching(
        /^unsure: GitHub refuses to change runs \(acme\/web\): the token lacks Actions: Read and write\. /,
      ),
      expect.stringMatching(
        /^unsure: .* annotations of a job .* lacks Checks: Read-only\. Only a GitHub App and a classic/,
      ),
      expect.stringMatching(
        /^unsure: GitHub refuses to read a file \(acme\/web\): the token lacks Contents: Read-only\. /,
      ),
    ])
    sandbox.lack()
    expect(await rights()).toEqual([])
    expect(sandbox.state().runs).toMatchObject([{ id: failed.id, attempt: 1, conclusion: 'failure' }])
  })

  it('names a permission whose lack showed when a person needed it, until that is tried again', async () => {
    const sandbox = await startGithub()
    const { id } = pushed(sandbox)
    const { apiUrl, token } = sandbox.address()
    const deps = ofGithub(apiUrl, token)
    const rights = async () => ofBuilds(await said(github, deps)).slice(2)
    const approve = () => deps.github.review('acme/web', String(id), REVIEW).catch((error: unknown) => error)
    sandbox.lack('deployments=write')
    expect(await rights()).toEqual([])
    expect(await approve()).toMatchObject({ kind: 'forbidden', needs: 'deployments=write' })
    expect(await rights()).toEqual([
      expect.stringMatching(/^unsure: GitHub refuses to review a deployment .* lacks Deployments: Read and write\. /),
    ])
    sandbox.lack()
    // The run waits for nothing, which GitHub says only to a token with the permission.
    expect(await approve()).toMatchObject({ kind: 'bad-request' })
    expect(await rights()).toEqual([])
    sandbox.failNext(1, 403, 'POST')
    // A 403 for another reason is no lack of a permission.
    expect(await deps.github.rerun('acme/web', String(id), 'all').catch((error: unknown) => error)).toMatchObject({
      kind: 'forbidden',
      needs: 'actions=write',
    })
    expect((await rights()).join()).not.toContain('again')
  })

  it('shows the rest of the rate limit, and warns below a tenth', async () => {
    const sandbox = await startGithub()
    expect((await lines(sandbox)).at(-1)).toMatch(/^fine: 49\d\d of 5000 calls to GitHub are left until 2\S+$/)
    sandbox.spend(4_600)
    expect((await lines(sandbox)).at(-1)).toMatch(/^unsure: .*GITHUB_TOKEN/)
  })
})

describe('GitLab', () => {
  const shown = 'fine: The pipelines of 1 project can be read.'

  const found = (sandbox: SandboxGitlab) => {
    const { url, token } = sandbox.address()
    return said(gitlab, ofGitlab(url, token))
  }

  it('needs no webhook, and shows no rate limit if GitLab gives none', async () => {
    const sandbox = await startGitlab()
    const hook = expect.stringMatching(/^off: no webhook to .* in acme\/web;/)
    expect(await found(sandbox)).toEqual([shown, hook])
    sandbox.setRate({ limit: 2_000, remaining: 150, reset: 1_800_000_000 })
    expect(await found(sandbox)).toEqual([
      shown,
      hook,
      expect.stringMatching(
        /^unsure: 150 of 2000 calls to GitLab are left until 2027-01-15T08:00:00.000Z\. .*GITLAB_TOKEN/,
      ),
    ])
  })

  it('names a webhook that failed too often until it works', async () => {
    const sandbox = await startGitlab()
    const receiver = await startReceiver()
    sandbox.setWebhookUrl(receiver.url.replace(/hook$/, 'webhooks/gitlab'))
    expect(await found(sandbox)).toEqual([shown])
    receiver.statusCode = 401
    for (const _ of [1, 2, 3, 4]) pipelined(sandbox)
    await sandbox.settle()
    expect((await found(sandbox))[1]).toMatch(
      /^wrong: The last delivery for acme\/web failed \(switched off for a while\)/,
    )
  })

  it.each([
    [{ isDisabled: true }, 'is switched off. Switch it on in the settings at GitLab.'],
    [{ hasPipelines: false }, 'does not send builds. Select Pipeline events in the settings at GitLab.'],
  ])('names a webhook with %j', async (change, words) => {
    const sandbox = await startGitlab({ webhookUrl: 'http://127.0.0.1:9/webhooks/gitlab' })
    sandbox.changeHook(change)
    expect(await found(sandbox)).toEqual([shown, `wrong: The webhook of acme/web ${words}`])
  })

  it('names the scope that a token lacks, and a role that is too low', async () => {
    const sandbox = await startGitlab({ webhookUrl: (await startReceiver()).url.replace(/hook$/, 'webhooks/gitlab') })
    const { url, readToken } = sandbox.address()
    expect(await said(gitlab, ofGitlab(url, readToken))).toEqual([
      shown,
      expect.stringMatching(
        /^unsure: The token lacks the scope api, so Restart, Stop, Approve…, Reject…, Run… and \/ci run fail\. /,
      ),
    ])
    expect(await found(sandbox)).toEqual([shown])
    sandbox.setSwitches({ role: 'Reporter' })
    expect((await found(sandbox)).at(-1)).toMatch(/^unsure: The token's role in acme\/web is too low .*Developer there/)
  })

  it('is fine with a token that may not read webhooks', async () => {
    const sandbox = await startGitlab()
    sandbox.setSwitches({ role: 'Developer' })
    expect((await found(sandbox))[1]).toMatch(/^off: the token cannot see .* without the role Maintainer$/)
  })
})

describe('a certificate of an authority that this machine does not know', () => {
  const CODE = 'DEPTH_ZERO_SELF_SIGNED_CERT'
  const wordsFor = (server: string) => [
    expect.stringMatching(
      `^wrong: The certificate of ${server} is not accepted \\(${CODE}\\)\\. .*NODE_EXTRA_CA_CERTS`,
    ),
  ]

  it('is named, with its server and NODE_EXTRA_CA_CERTS', async () => {
    const url = await startHttps()
    const client = createClientLegacy({ baseUrl: url, apiKey: 'a-key', transport: openTransport() })
    expect(await said(gitlab, ofGitlab(`${url}/gitlab`, 'a-token'))).toEqual(wordsFor('GitLab'))
    expect(await said(github, ofGithub(`${url}/api/v3`, 'a-token'))).toEqual(wordsFor('GitHub'))
    expect(await said(legacy, { legacy: client })).toEqual(wordsFor('CI'))
  })

  it('of PostgreSQL is named, and so it is by /readyz', async () => {
    const store = openPostgres(await startPostgresTls(), () => {})
    onTestFinished(() => store.close())
    expect(await said(database, { store })).toEqual(wordsFor('the database'))
    expect(await store.ping().catch(storeFaultOf)).toBe('certificate')
    expect(storeFaultOf(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))).toBe('unreachable')
    expect(certificateFault('ECONNREFUSED')).toBeNull()
  })

  it('lets no call be repeated, and nothing was done', async () => {
    const client = createGitlabClient({ url: await startHttps(), token: 'a-token', transport: openTransport() })
    const failure = client.cancel('acme/web', '1')
    await expect(failure).rejects.toMatchObject({ kind: 'certificate', retryable: false, isUndone: true })
    await expect(client.project('acme/web')).rejects.toMatchObject({ kind: 'certificate', retryable: false })
  })

  it('is accepted with NODE_EXTRA_CA_CERTS', async () => {
    const identity = selfSigned()
    const url = await startHttps(identity)
    const file = join(testFolder(), 'authority.pem')
    writeFileSync(file, identity.cert)
    const statusWith = async (environment: Record<string, string>) => {
      const code = `fetch(${JSON.stringify(url)}).then(({ status }) => console.log(status), ({ cause }) => console.log(cause.code))`
      const child = spawn(process.execPath, ['-e', code], { env: { ...process.env, ...environment } })
      const pieces: string[] = []
      for await (const piece of child.stdout.setEncoding('utf8')) pieces.push(piece as string)
      return pieces.join('').trim()
    }
    expect(await statusWith({})).toBe(CODE)
    expect(await statusWith({ NODE_EXTRA_CA_CERTS: file })).toBe('200')
  })

  it.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'NODE_EXTRA_CA_CERTS'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'NODE_EXTRA_CA_CERTS'],
    ['CERT_HAS_EXPIRED', 'Renew it there'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'Set GITLAB_URL to a name that the certificate has.'],
  ])('with %s has another remedy: %s', async (code, remedy) => {
    const cause = Object.assign(new Error(), { code })
    const pipelines = () => Promise.reject(new CiError({ kind: 'certificate', purpose: 'list', cause }))
    const [words] = await said(gitlab, { gitlab: { ...HEALTHY.gitlab!, pipelines } })
    expect(words).toContain(`(${code})`)
    expect(words).toContain(remedy)
  })
})
