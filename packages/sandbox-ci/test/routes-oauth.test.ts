import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../../src/lib/clock.ts'
import type { SandboxCi } from '../src/server.ts'
import { pushed, request, startCi, v2 } from './support.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const ask = (ci: SandboxCi, form: Record<string, string>, headers: Record<string, string> = {}) =>
  request('POST', ci.address().tokenUrl, new URLSearchParams(form).toString(), { ...FORM, ...headers })
const credentials = (ci: SandboxCi) => ({ client_id: ci.address().clientId, client_secret: ci.address().clientSecret })
const bearer = (json: unknown) => `Bearer ${z.object({ access_token: z.string() }).parse(json).access_token}`

describe('the token endpoint', () => {
  it('gives a bearer token that v2 accepts, in an answer that is not cached', async () => {
    const ci = await startCi()
    const answer = await ask(ci, { grant_type: 'client_credentials', ...credentials(ci) })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.json).toMatchObject({
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'project.read project.write build.write',
    })
    expect((await v2(ci, 'GET', '/projects', undefined, bearer(answer.json))).status).toBe(200)
  })

  it('accepts the client as Basic credentials or in a JSON body', async () => {
    const ci = await startCi()
    const { clientId, clientSecret, tokenUrl } = ci.address()
    const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
    expect((await ask(ci, { grant_type: 'client_credentials' }, { authorization: basic })).status).toBe(200)
    expect((await request('POST', tokenUrl, { grant_type: 'client_credentials', ...credentials(ci) })).status).toBe(200)
  })

  it('grants only the requested scopes', async () => {
    const ci = await startCi()
    const { json } = await ask(ci, { grant_type: 'client_credentials', scope: 'project.read', ...credentials(ci) })
    expect(json).toMatchObject({ scope: 'project.read' })
    expect((await v2(ci, 'GET', '/projects', undefined, bearer(json))).status).toBe(200)
    const build = pushed(ci, { outcome: 'none' })
    const path = `/projects/${ci.state().projects[0]!.uuid}/builds/${build.uuid}/stop`
    expect((await v2(ci, 'POST', path, undefined, bearer(json))).status).toBe(403)
  })

  it('gives tokens that expire after tokenLifetimeMs', async () => {
    let now = Date.now()
    const ci = await startCi({ clock: { ...systemClock, now: () => now }, switches: { tokenLifetimeMs: 60_000 } })
    const { json } = await ask(ci, { grant_type: 'client_credentials', ...credentials(ci) })
    expect(json).toMatchObject({ expires_in: 60 })
    now += 59_999
    expect((await v2(ci, 'GET', '/projects', undefined, bearer(json))).status).toBe(200)
    now += 1
    expect((await v2(ci, 'GET', '/projects', undefined, bearer(json))).status).toBe(401)
    expect((await v2(ci, 'GET', '/projects')).status).toBe(200)
  })

  it.each([
    [{ client_secret: 'wrong' }, 401, 'invalid_client'],
    [{ client_id: 'wrong' }, 401, 'invalid_client'],
    [{ grant_type: 'password' }, 400, 'unsupported_grant_type'],
    [{ scope: 'project.read everything' }, 400, 'invalid_scope'],
  ])('refuses %j with %i %s', async (changes, status, error) => {
    const ci = await startCi()
    const answer = await ask(ci, { grant_type: 'client_credentials', ...credentials(ci), ...changes })
    expect([answer.status, answer.json]).toEqual([status, { error }])
  })
})
