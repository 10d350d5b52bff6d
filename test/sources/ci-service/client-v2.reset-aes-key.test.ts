import { describe, expect, test } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import { projectNamed, startCi } from '../../../packages/sandbox-ci/test/support.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import type { StubAnswer } from '../../support/http-stub.ts'
import { ciErrorOf, createSandboxClient, createTestClientV2, project, uuidOf } from './support.ts'

describe('a reset succeeds with any 2xx, and the key is read', () => {
  test.each<[string, StubAnswer, string | null]>([
    ['from a bare project', { json: project(1, { aes_key: 'k1' }) }, 'k1'],
    ['from a wrapped project', { json: { project: project(1, { aes_key: 'k1' }) } }, 'k1'],
    ['on its own', { status: 201, json: { aes_key: 'k1' } }, 'k1'],
    ['beside the project', { json: { project: project(1), aes_key: 'k1' } }, 'k1'],
    ['as null if it is missing', { json: project(1) }, null],
    ['as null if it is null', { json: { aes_key: null } }, null],
    ['as null if it is blank', { json: { aes_key: ' ' } }, null],
    ['as null if it has another form', { json: { aes_key: { of: 'k1' } } }, null],
    ['as null if the answer has no body', { status: 202 }, null],
    ['as null if the answer is a page', { text: '<html>' }, null],
    ['as null if it breaks off', (response) => response.writeHead(200).write('{', () => response.destroy()), null],
  ])('%s', async (_form, answer, aesKey) => {
    await using stub = await startHttpStub(() => answer)
    expect(await createTestClientV2(stub.url).resetAesKey(toUuid(uuidOf(1)))).toEqual({ aesKey })
  })
})

describe('in the sandbox', () => {
  test.each([
    ['bare', true],
    ['wrapped', true],
    ['aes_key', true],
    ['empty', false],
  ] as const)('a Pro project gets another key, in the answer form %s', async (resetAesKeyForm, isSaid) => {
    const ci = await startCi({ switches: { resetAesKeyForm } })
    const before = projectNamed(ci, 'acme/ios')
    const { aesKey } = await createSandboxClient(ci).resetAesKey(toUuid(before.uuid))
    const { aes_key: key } = projectNamed(ci, 'acme/ios')
    expect(key).not.toBe(before.aes_key)
    expect(aesKey).toBe(isSaid ? key : null)
  })

  test('a Basic project has no key, so the reset is refused, and certainly not done', async () => {
    const ci = await startCi()
    const error = await ciErrorOf(createSandboxClient(ci).resetAesKey(toUuid(projectNamed(ci, 'acme/web').uuid)))
    expect(error).toMatchObject({ kind: 'bad-request', isUndone: true })
    expect(projectNamed(ci, 'acme/web').aes_key).toBeNull()
  })
})
