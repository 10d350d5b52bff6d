import { expect, onTestFinished, test } from 'vitest'
import { pushed, startGithub } from '../../../packages/sandbox-github/test/support.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createGithubClient } from '../../../src/sources/github/client.ts'
import { readDecisions, withGates } from '../../../src/sources/github/gates.ts'
import { readRun } from '../../../src/sources/github/run.ts'
import { createTransport } from '../../../src/sources/http/transport.ts'

test('the decisions about an environment are read, also those of earlier attempts; GitHub keeps none about a run', async () => {
  const github = await startGithub()
  const transport = createTransport({ clock: systemClock })
  onTestFinished(() => transport.close())
  const { apiUrl, token } = github.address()
  const client = createGithubClient({ apiUrl, token, transport })
  const environments = ['eu', 'us'].map((name) => ({ name, mayReview: true }))
  const run = String(pushed(github, { environments }).id)
  const shown = readRun(await client.run('acme/web', run), await client.repository('acme/web'), null)!.event
  const gates = (await withGates(client, 'acme/web', shown)).details.gates!
  expect(gates).toMatchObject([{ name: 'eu' }, { name: 'us' }])
  const [eu, us] = gates
  const commentsOn = (gate: typeof eu) => readDecisions(client, 'acme/web', run, gate!)
  await client.review('acme/web', run, { environment: eu!.id, state: 'approved', comment: 'Tested.' })
  expect([await commentsOn(eu), await commentsOn(us)]).toEqual([['Tested.'], []])
  github.review(Number(run), 'rejected', { by: 'grace' })
  github.rerun(Number(run))
  github.review(Number(run), 'approved', { comment: 'Again.' })
  expect([await commentsOn(eu), await commentsOn(us)]).toEqual([
    ['Tested.', 'Again.'],
    ['', 'Again.'],
  ])
  expect(await readDecisions(client, 'acme/web', run, { kind: 'run', id: 'run' })).toBeNull()
})
