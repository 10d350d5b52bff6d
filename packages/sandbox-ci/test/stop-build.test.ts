import { describe, expect, it } from 'vitest'
import type { SandboxCi } from '../src/server.ts'
import { projectNamed, pushed, reached, startCi, statusOf, v2 } from './support.ts'

const stopPath = (ci: SandboxCi, uuid: string) => `/projects/${projectNamed(ci, 'acme/web').uuid}/builds/${uuid}/stop`

describe('E1 stop a build', () => {
  it('answers 202 without a body while the build runs, and the build then stops', async () => {
    const ci = await startCi()
    const build = pushed(ci, { outcome: 'none' })
    const answer = await v2(ci, 'POST', stopPath(ci, build.uuid))
    expect([answer.status, answer.text]).toEqual([202, ''])
    await reached(ci, build.uuid, 'stopped')
  })

  it('accepts an empty JSON object as the body', async () => {
    const ci = await startCi()
    expect(await v2(ci, 'POST', stopPath(ci, pushed(ci, { outcome: 'none' }).uuid), {})).toMatchObject({ status: 202 })
  })

  it('answers 400 if the build is no longer running', async () => {
    const ci = await startCi()
    const build = pushed(ci, { outcome: 'none' })
    ci.finish(build.uuid, 'success')
    expect((await v2(ci, 'POST', stopPath(ci, build.uuid))).status).toBe(400)
    expect(statusOf(ci, build.uuid)).toBe('success')
  })

  it('answers 404 for a build of another project, an integer id or an unknown uuid', async () => {
    const ci = await startCi()
    const other = pushed(ci, { outcome: 'none' }, 'acme/api')
    const own = pushed(ci, { outcome: 'none' })
    for (const id of [other.uuid, own.id, '00000000-0000-0000-0000-000000000000']) {
      expect((await v2(ci, 'POST', stopPath(ci, id))).status).toBe(404)
    }
    expect(statusOf(ci, other.uuid)).toBe('initiated')
  })

  it('can end the build as error, or never', async () => {
    const ci = await startCi({ switches: { stopStatus: 'error' } })
    const first = pushed(ci, { outcome: 'none' })
    await v2(ci, 'POST', stopPath(ci, first.uuid))
    await reached(ci, first.uuid, 'error')
    ci.setSwitches({ stopIsForgotten: true, stopMs: 0 })
    const second = pushed(ci, { ms: 500 })
    expect((await v2(ci, 'POST', stopPath(ci, second.uuid))).status).toBe(202)
    await reached(ci, second.uuid, 'success')
  })
})
