import { describe, expect, it } from 'vitest'
import { projectNamed, startCi, v2 } from './support.ts'

describe('E5 reset the AES key', () => {
  it.each([
    ['bare', (key: string | null) => ({ name: 'acme/ios', aes_key: key })],
    ['wrapped', (key: string | null) => ({ project: { name: 'acme/ios', aes_key: key } })],
    ['aes_key', (key: string | null) => ({ aes_key: key })],
  ] as const)('gives a pro project a new key and answers %s', async (resetAesKeyForm, shape) => {
    const ci = await startCi({ switches: { resetAesKeyForm } })
    const { aes_key: before, uuid } = projectNamed(ci, 'acme/ios')
    const answer = await v2(ci, 'POST', `/projects/${uuid}/reset_aes_key`, {})
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject(shape(projectNamed(ci, 'acme/ios').aes_key))
    expect(projectNamed(ci, 'acme/ios').aes_key).not.toBe(before)
  })

  it('can answer with an empty body, and accepts the integer id', async () => {
    const ci = await startCi({ switches: { resetAesKeyForm: 'empty' } })
    expect(await v2(ci, 'POST', '/projects/13/reset_aes_key', {})).toMatchObject({ status: 200, text: '' })
  })

  it('refuses a basic project', async () => {
    const ci = await startCi()
    expect((await v2(ci, 'POST', `/projects/${projectNamed(ci, 'acme/web').uuid}/reset_aes_key`, {})).status).toBe(400)
    expect(projectNamed(ci, 'acme/web').aes_key).toBeNull()
  })
})
