import { describe, expect, it } from 'vitest'
import { TOKENS } from '../src/seed.ts'
import { control, projectNamed, request, startCi, v2 } from './support.ts'

const creation = { repository_url: 'https://git.example.com/acme/docs.git', type: 'basic', team_ids: [7] }

describe('the Authorization header', () => {
  it.each(['', 'Bearer', 'Bearer wrong', 'Basic sandbox-token-everything'])(
    '%j is 401 everywhere',
    async (authorization) => {
      const ci = await startCi()
      const project = `/projects/${projectNamed(ci, 'acme/ios').uuid}`
      const calls = [
        v2(ci, 'GET', '/projects', undefined, authorization),
        v2(ci, 'POST', '/projects', {}, authorization),
        v2(ci, 'PUT', project, {}, authorization),
        v2(ci, 'POST', `${project}/reset_aes_key`, {}, authorization),
        v2(ci, 'POST', `${project}/builds/none/stop`, {}, authorization),
      ]
      expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([401, 401, 401, 401, 401])
    },
  )

  it('needs exactly the scope of the call', async () => {
    const ci = await startCi()
    const project = `/projects/${projectNamed(ci, 'acme/ios').uuid}`
    const statuses = async (token: string) => {
      const answers = [
        await v2(ci, 'GET', '/projects', undefined, token),
        await v2(ci, 'PUT', project, { type: 'pro' }, token),
        await v2(ci, 'POST', '/projects', creation, token),
        await v2(ci, 'POST', `${project}/reset_aes_key`, {}, token),
        await v2(ci, 'POST', `${project}/builds/none/stop`, {}, token),
      ]
      return answers.map(({ status }) => status)
    }
    expect(await statuses(TOKENS.projectRead)).toEqual([200, 403, 403, 403, 403])
    expect(await statuses(TOKENS.projectWrite)).toEqual([403, 200, 201, 200, 403])
    expect(await statuses(TOKENS.buildWrite)).toEqual([403, 403, 403, 403, 404])
    ci.setSwitches({ unshownScope: 'any' })
    expect(await statuses(TOKENS.projectRead)).toEqual([200, 403, 201, 200, 403])
  })

  it.each([
    ['any', 200, 200],
    ['bearer', 200, 401],
    ['bare', 401, 200],
  ] as const)(
    'in the form %s answers %i with Bearer and %i without',
    async (authorizationForm, withBearer, without) => {
      const ci = await startCi({ switches: { authorizationForm } })
      expect((await v2(ci, 'GET', '/projects', undefined, `Bearer ${TOKENS.everything}`)).status).toBe(withBearer)
      expect((await v2(ci, 'GET', '/projects', undefined, TOKENS.everything)).status).toBe(without)
    },
  )

  it('gives no access to another organization (403) or an unknown one (404)', async () => {
    const ci = await startCi()
    const { baseUrl, authorization } = ci.address()
    const status = async (uuid: string) =>
      (await request('GET', `${baseUrl}/organizations/${uuid}/projects`, undefined, { authorization })).status
    expect(await status(ci.state().organizations[1]!.uuid)).toBe(403)
    expect(await status('00000000-0000-0000-0000-000000000000')).toBe(404)
  })
})

describe('an error body', () => {
  it.each([
    ['errors', 'application/json', /^{"errors":\["the Authorization header .*"\]}$/],
    ['error', 'application/json', /^{"error":"the Authorization header .*"}$/],
    ['text', 'text/plain', /^the Authorization header/],
    ['html', 'text/html', /^<html>.*401 Unauthorized/],
    ['empty', null, /^$/],
  ] as const)('has the form %s', async (errorForm, contentType, body) => {
    const ci = await startCi({ switches: { errorForm } })
    const answer = await v2(ci, 'GET', '/projects', undefined, 'wrong')
    expect(answer.status).toBe(401)
    expect(answer.headers.get('content-type')?.split(';')[0] ?? null).toBe(contentType)
    expect(answer.text).toMatch(body)
  })
})

describe('the rate limit', () => {
  it('answers 429 with Retry-After beyond the limit, and does not count while it is off', async () => {
    const ci = await startCi()
    for (let n = 0; n < 3; n++) await v2(ci, 'GET', '/projects')
    await control(ci, 'POST', '/switches', { rateLimit: '429', rateLimitRequestsMax: 2 })
    const answers = [
      await v2(ci, 'GET', '/projects'),
      await v2(ci, 'GET', '/projects'),
      await v2(ci, 'GET', '/projects'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
    expect(Number(answers[2]!.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it('can be a 403 whose reason says rate limit', async () => {
    const ci = await startCi({ switches: { rateLimit: '403', rateLimitRequestsMax: 0 } })
    const answer = await v2(ci, 'GET', '/projects')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([403, null])
    expect(answer.statusText).toContain('rate limit')
  })
})

describe('a path outside the interface', () => {
  it('gets 404, and a wrong method gets 405', async () => {
    const ci = await startCi()
    expect((await v2(ci, 'GET', `/teams`)).status).toBe(404)
    const answer = await v2(ci, 'GET', `/projects/${projectNamed(ci, 'acme/web').uuid}`)
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'PUT'])
  })
})
