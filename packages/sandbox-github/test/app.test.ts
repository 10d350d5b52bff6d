import { generateKeyPairSync, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { pushed, startGithub } from './support.ts'

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const NOW_S = Math.floor(Date.now() / 1_000)
const CLAIMS = { iat: NOW_S - 60, exp: NOW_S + 300, iss: '7' }

const encoded = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url')

function jwtOf(claims: unknown, head: unknown = { alg: 'RS256', typ: 'JWT' }): string {
  const text = `${encoded(head)}.${encoded(claims)}`
  return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
}

test.each([
  ['whose claims are right', jwtOf(CLAIMS), 200, 'id'],
  ['that has expired', jwtOf({ ...CLAIMS, exp: NOW_S - 1 }), 401, 'at which the assertion expires'],
  ['that expires in a day', jwtOf({ ...CLAIMS, exp: NOW_S + 86_400 }), 401, 'too far in the future'],
  ['of another app', jwtOf({ ...CLAIMS, iss: '8' }), 401, 'could not be decoded'],
  ['without claims', jwtOf(null), 401, 'could not be decoded'],
  ['with a malformed head', jwtOf(CLAIMS, 'RS256'), 401, 'could not be decoded'],
  ['that is no JWT', 'ghp_token', 401, 'could not be decoded'],
])('an app that sends a JWT %s is answered as by GitHub', async (_, jwt, status, says) => {
  const github = await startGithub({
    app: { id: '7', publicKey: publicKey.export({ type: 'spki', format: 'pem' }) },
  })
  const { apiUrl } = github.address()
  const answer = await fetch(`${apiUrl}/repos/acme/web/installation`, { headers: { authorization: `Bearer ${jwt}` } })
  expect(answer.status).toBe(status)
  expect(await answer.text()).toContain(says)
})

test('an app may not review a deployment, unlike a person', async () => {
  const github = await startGithub({
    app: { id: '7', publicKey: publicKey.export({ type: 'spki', format: 'pem' }) },
  })
  const { id } = pushed(github, { environments: [{ name: 'production', mayReview: true }] })
  const post = async (path: string, token: string, body: object) => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${github.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, json: (await response.json()) as { token: string } }
  }
  const installation = await fetch(`${github.url}/repos/acme/web/installation`, {
    headers: { authorization: `Bearer ${jwtOf(CLAIMS)}` },
  })
  const { access_tokens_url: url } = (await installation.json()) as { access_tokens_url: string }
  const { token } = (await post(new URL(url).pathname, jwtOf(CLAIMS), {})).json
  const review = { environment_ids: [1], state: 'approved', comment: '' }
  expect((await post(`/repos/acme/web/actions/runs/${id}/pending_deployments`, token, review)).status).toBe(403)
})
