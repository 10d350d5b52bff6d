import { describe, expect, it } from 'vitest'
import type { SandboxCi } from '../src/server.ts'
import type { Switches } from '../src/switches.ts'
import { projectNamed, pushed, request, startCi } from './support.ts'

const badge = (ci: SandboxCi, query: string, uuid = projectNamed(ci, 'acme/web').uuid) =>
  request('GET', `${ci.address().siteUrl}/projects/${uuid}/status${query}`)
const word = (svg: string) => /<title>build: ([^<]*)<\/title>/.exec(svg)?.[1]

describe('the badge', () => {
  it.each([
    ['success', 'passing'],
    ['error', 'failing'],
    ['infrastructure_failure', 'machine error'],
    ['stopped', 'stopped'],
    ['ignored', 'not built'],
    ['blocked', 'blocked'],
  ] as const)('of a branch whose newest build is %s says %s', async (status, expected) => {
    const ci = await startCi()
    ci.finish(pushed(ci, { branch: 'dev', outcome: 'none' }).uuid, status)
    const answer = await badge(ci, '?branch=dev')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toContain('image/svg+xml')
    expect(answer.headers.get('cache-control')).toContain('no-cache')
    expect(word(answer.text)).toBe(expected)
  })

  it('shows the newest build of the branch, or of the project if no branch is given', async () => {
    const ci = await startCi()
    ci.finish(pushed(ci, { outcome: 'none' }).uuid, 'error')
    pushed(ci, { outcome: 'none' })
    pushed(ci, { branch: 'dev', needsApproval: true })
    expect(word((await badge(ci, '?branch=main')).text)).toBe('testing')
    expect(word((await badge(ci, '')).text)).toBe('waiting')
  })

  it('is unknown with 200 for an unknown branch, and 404 for an unknown project', async () => {
    const ci = await startCi()
    const branch = await badge(ci, '?branch=none')
    expect([branch.status, word(branch.text)]).toEqual([200, 'unknown'])
    expect((await badge(ci, '', '00000000-0000-0000-0000-000000000000')).status).toBe(404)
    ci.setSwitches({ badgeUnknownProject: 200 } satisfies Partial<Switches>)
    const project = await badge(ci, '', '00000000-0000-0000-0000-000000000000')
    expect([project.status, word(project.text)]).toEqual([200, 'project unknown'])
  })

  it('can show the statuses themselves', async () => {
    const ci = await startCi({ switches: { badgeWords: 'statuses' } })
    pushed(ci, { outcome: 'none' })
    expect(word((await badge(ci, '?branch=main')).text)).toBe('initiated')
  })
})

describe('the page of a build', () => {
  it('is what build_url links to, and escapes its texts', async () => {
    const ci = await startCi()
    const build = pushed(ci, { outcome: 'none', message: '<script>alert(1)</script>' })
    const answer = await request('GET', `${ci.url}/projects/11/builds/${build.id}`)
    expect(answer.status).toBe(200)
    expect(answer.text).toContain(`acme/web #${build.id}`)
    expect(answer.text).toContain('&lt;script&gt;')
    expect(answer.text).not.toContain('<script>')
  })

  it('is 404 under another project', async () => {
    const ci = await startCi()
    const build = pushed(ci, { outcome: 'none' })
    expect((await request('GET', `${ci.url}/projects/12/builds/${build.id}`)).status).toBe(404)
    expect((await request('GET', `${ci.url}/projects/11`)).text).toContain('acme/web')
    expect((await request('GET', `${ci.url}/projects/99`)).status).toBe(404)
  })
})
