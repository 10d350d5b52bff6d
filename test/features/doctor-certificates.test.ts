import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { certificateFault } from '../../src/lib/error-code.ts'
import { beginExamination, IN_PLAIN_TEXT, type CheckName, type DoctorDeps } from '../../src/features/doctor/findings.ts'
import { CHECK_OF, verdictOf } from '../../src/features/doctor/checks.ts'
import { githubHost, gitlabHost } from '../../src/features/doctor/hosts.ts'
import { findingWords } from '../../src/features/doctor/words.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createClientLegacy } from '../../src/sources/ci-service/client-legacy.ts'
import { createGithubClient } from '../../src/sources/github/client.ts'
import { createGitlabClient } from '../../src/sources/gitlab/client.ts'
import { createTransport } from '../../src/sources/http/transport.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { storeFaultOf } from '../../src/store/health.ts'
import { selfSigned, startHttps, startPostgresTls } from '../support/certificate.ts'
import { testFolder } from '../support/app.ts'

// Servers whose certificate is of an authority that this machine does not know.

const CODE = 'DEPTH_ZERO_SELF_SIGNED_CERT'

function opened() {
  const transport = createTransport({ clock: systemClock })
  onTestFinished(() => transport.close())
  return transport
}

async function said(check: CheckName, deps: Partial<DoctorDeps>): Promise<string[]> {
  const all = { clock: systemClock, v2: null, legacy: null, hosts: { github: null, gitlab: null }, ...deps }
  const found = await CHECK_OF[check](beginExamination(all as DoctorDeps, new AbortController().signal))
  return found.map((what) => {
    const { what: words, remedy } = findingWords({ check, what }, IN_PLAIN_TEXT)
    return `${verdictOf({ check, what })}: ${words} ${remedy}`
  })
}

const wordsFor = (server: string) =>
  expect.stringMatching(
    new RegExp(String.raw`^wrong: The certificate of ${server} is not accepted \(${CODE}\)\. .*NODE_EXTRA_CA_CERTS`),
  )

describe('the doctor names the certificate and NODE_EXTRA_CA_CERTS', () => {
  test('of a GitLab, also under a path', async () => {
    const url = `${await startHttps()}/gitlab`
    const gitlab = gitlabHost(createGitlabClient({ url, token: 'a-token', transport: opened() }), ['acme/web'])
    expect(await said('gitlab', { hosts: { github: null, gitlab } })).toEqual([wordsFor('GitLab')])
  })

  test('of a GitHub', async () => {
    const apiUrl = `${await startHttps()}/api/v3`
    const github = githubHost(createGithubClient({ apiUrl, token: 'a-token', transport: opened() }), ['acme/web'])
    expect(await said('github', { hosts: { github, gitlab: null } })).toEqual([wordsFor('GitHub')])
  })

  test('of the CI service', async () => {
    const baseUrl = await startHttps()
    const legacy = createClientLegacy({ baseUrl, apiKey: 'a-key', transport: opened() })
    expect(await said('ci-legacy', { legacy })).toEqual([wordsFor('CI')])
  })

  test('of PostgreSQL, and so does /readyz', async () => {
    const store = openPostgres(await startPostgresTls(), () => {})
    onTestFinished(() => store.close())
    expect(await said('store', { store })).toEqual([wordsFor('the database')])
    const fault = await store.ping().catch(storeFaultOf)
    expect(fault).toBe('certificate')
  })
})

test('a call is not repeated for a certificate, and nothing was done', async () => {
  const client = createGitlabClient({ url: await startHttps(), token: 'a-token', transport: opened() })
  const failure = client.cancel('acme/web', '1')
  await expect(failure).rejects.toMatchObject({ kind: 'certificate', retryable: false, isUndone: true })
  await expect(client.project('acme/web')).rejects.toMatchObject({ kind: 'certificate', retryable: false })
})

test('with NODE_EXTRA_CA_CERTS the same server is accepted', async () => {
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

test.each([
  ['SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'NODE_EXTRA_CA_CERTS'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'NODE_EXTRA_CA_CERTS'],
  ['CERT_HAS_EXPIRED', 'Renew it there'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'Set GITLAB_URL to a name that the certificate has.'],
])('for %s the remedy is another: %s', (certificate, remedy) => {
  const refused = { kind: 'host-refuses', host: 'gitlab', name: 'acme/web', code: 'certificate', reason: null } as const
  const words = findingWords({ check: 'gitlab', what: { ...refused, certificate } }, IN_PLAIN_TEXT)
  expect(words.remedy).toContain(remedy)
  expect(words.what).toContain(certificate)
})

test('a connection that is refused is no matter of certificates', () => {
  expect(certificateFault('ECONNREFUSED')).toBeNull()
  expect(storeFaultOf(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))).toBe('unreachable')
})
