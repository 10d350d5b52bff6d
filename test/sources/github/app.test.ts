import { generateKeyPairSync } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { pushed, runOf, startGithub } from '../../../packages/sandbox-github/test/support.ts'
import { appTokens } from '../../../src/sources/github/app.ts'
import { createGithubClient } from '../../../src/sources/github/client.ts'
import { createTransport } from '../../../src/sources/http/transport.ts'
import { systemClock } from '../../../src/lib/clock.ts'

const pair = () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }),
    // The format that GitHub uses.
    privateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }),
  }
}
const KEYS = pair()

/** A client with only the key of an app, and no token; its clock may be fast. */
async function openApp({ id = '7', privateKey = KEYS.privateKey } = {}) {
  let aheadMs = 0
  const clock = { ...systemClock, now: () => Date.now() + aheadMs }
  const github = await startGithub({ app: { id: '7', publicKey: KEYS.publicKey }, clock })
  const transport = createTransport({ clock: systemClock })
  onTestFinished(() => transport.close())
  const { apiUrl } = github.address()
  const client = createGithubClient({
    apiUrl,
    token: appTokens({ id, privateKey }, { apiUrl, transport, clock }),
    transport,
  })
  const asked = () => github.calls().filter(({ path }) => path.endsWith('/access_tokens')).length
  return { github, client, asked, pass: (ms: number) => void (aheadMs += ms) }
}

test('an app requests one token for all repositories of an owner, and a new one a minute before it expires', async () => {
  const { github, client, asked, pass } = await openApp()
  const { id } = pushed(github)
  await Promise.all([client.runs('acme/web'), client.runs('acme/api'), client.runs('acme/web')])
  await client.cancel('acme/web', String(id))
  expect(asked()).toBe(1)
  pass(58 * 60_000)
  await client.runs('acme/web')
  expect(asked()).toBe(1)
  pass(60_000 + 1)
  await client.runs('acme/web')
  expect(asked()).toBe(2)
})

test('a token that GitHub no longer accepts is requested anew at the next call', async () => {
  const { github, client, asked } = await openApp()
  await client.runs('acme/web')
  github.endAppTokens()
  await expect(client.runs('acme/web')).rejects.toMatchObject({ kind: 'unauthorized' })
  await client.runs('acme/web')
  expect(asked()).toBe(2)
})

test.each([
  ['a key that does not belong to it', { privateKey: pair().privateKey }],
  ['the id of another app', { id: '8' }],
])('with %s the app does nothing more, and no error shows the key', async (_, app) => {
  const { github, client, asked } = await openApp(app)
  const { id } = pushed(github)
  const refused = await client.cancel('acme/web', String(id)).catch((error: unknown) => error)
  expect(refused).toMatchObject({ kind: 'unauthorized', code: 'CI_TOKEN_UNAUTHORIZED', isUndone: true })
  expect(JSON.stringify([refused, (refused as Error).message, (refused as Error).stack])).not.toMatch(/PRIVATE|eyJ/)
  expect([asked(), runOf(github, id).conclusion]).toEqual([0, null])
})

test('a repository without the app installed is not found', async () => {
  const { client } = await openApp()
  await expect(client.runs('acme/gone')).rejects.toMatchObject({ kind: 'not-found' })
  // A failed request is repeated.
  await client.runs('acme/web')
})
