import { expect, test } from 'vitest'
import { pushed, request, startCi } from '../../../../sandbox-ci/test/support.ts'
import { ciService } from '../../../src/service/ci.ts'

test('only a call that changes something was asked of the CI service', async () => {
  const ci = await startCi()
  const { id } = pushed(ci, { outcome: 'error', ms: 0 })
  await expect.poll(() => ci.state().builds[0]?.status).toBe('error')
  const { legacyBaseUrl, apiKey } = ci.address()
  const restart = `${legacyBaseUrl}/api/v1/builds/${id}/restart.json?api_key=${apiKey}`
  await request('GET', restart)
  expect(ciService(ci).asked()).toEqual([])
  expect((await request('POST', restart)).status).toBe(200)
  expect(ciService(ci).asked()).toEqual([{ action: 'Restart', build: id }])
})
