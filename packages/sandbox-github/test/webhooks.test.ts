import { Octokit } from '@octokit/rest'
import { expect, test } from 'vitest'
import { signatureOf } from '../src/hooks.ts'
import { CONCLUSIONS } from '../src/world.ts'
import type { SandboxGithub } from '../src/server.ts'
import { ended, pushed, startGithub, startReceiver } from './support.ts'

const runs = (github: SandboxGithub) => github.deliveries().filter(({ event }) => event === 'workflow_run')
const told = (github: SandboxGithub) =>
  runs(github).map(({ body }) => {
    const { action, workflow_run: run } = JSON.parse(body) as { action: string; workflow_run: Record<string, unknown> }
    return [action, run['status'], run['conclusion'], run['run_attempt'], run['id']].join(' ')
  })

test('deliveries of every outcome are as GitHub describes them', async () => {
  const github = await startGithub({ webhookUrl: (await startReceiver()).url })
  for (const outcome of CONCLUSIONS) github.finish(pushed(github).id, outcome)
  github.rerun(github.state().runs[0]!.id)
  pushed(github, { fork: 'mallory', needsApproval: true }, 'acme/api')
  pushed(github, { tag: 'v1.0', event: 'schedule', workflow: 'nightly.yml' })
  pushed(github, { branch: null })
  pushed(github, { branch: 'fix', pullRequest: 7 })
  expect(JSON.parse(runs(github).at(-1)!.body)).toMatchObject({ workflow_run: { pull_requests: [{ number: 7 }] } })
  expect(new Set(github.deliveries().map(({ event, action }) => `${event} ${action}`)).size).toBe(4)
})

test('webhooks report each step of a run; a rerun keeps the id, is a new attempt, and is not `requested`', async () => {
  const receiver = await startReceiver()
  const github = await startGithub({ webhookUrl: receiver.url })
  await github.settle()
  const { id } = pushed(github, { outcome: 'failure', ms: 0 })
  await ended(github, id, 'failure')
  github.rerun(id, { outcome: 'none' })
  github.advance(id, 'waiting')
  github.finish(id, 'success')
  await github.settle()
  expect(told(github)).toEqual([
    `requested queued  1 ${id}`,
    `in_progress in_progress  1 ${id}`,
    `completed completed failure 1 ${id}`,
    `in_progress in_progress  2 ${id}`,
    `completed completed success 2 ${id}`,
  ])
  expect(receiver.requests.slice(-5).map(({ body }) => body)).toEqual(runs(github).map(({ body }) => body))
})

test('a pull request of a first-time contributor waits for an approval, and then runs', async () => {
  const github = await startGithub({ webhookUrl: (await startReceiver()).url })
  const { id: run_id } = pushed(github, { fork: 'mallory', needsApproval: true, outcome: 'success', ms: 0 })
  expect(github.rerun(run_id)).toMatchObject({ kind: 'not-possible' })
  const { apiUrl: baseUrl, token: auth } = github.address()
  const approve = new Octokit({ baseUrl, auth }).actions.approveWorkflowRun
  expect((await approve({ owner: 'acme', repo: 'web', run_id })).status).toBe(201)
  await ended(github, run_id, 'success')
  expect(github.approve(run_id)).toMatchObject({ kind: 'not-possible' })
  expect(told(github)).toEqual([
    `requested completed action_required 1 ${run_id}`,
    `completed completed action_required 1 ${run_id}`,
    `in_progress in_progress  2 ${run_id}`,
    `completed completed success 2 ${run_id}`,
  ])
})

test("the signature is that of GitHub's own example, and is made over the bytes sent", async () => {
  expect(signatureOf("It's a Secret to Everybody", 'Hello, World!')).toBe(
    'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
  )
  const receiver = await startReceiver()
  const github = await startGithub({ webhookUrl: receiver.url, webhookSecret: 'geheim – 秘密' })
  await github.settle()
  const [{ headers, body }] = receiver.requests as [(typeof receiver.requests)[0]]
  const secret = new TextEncoder().encode('geheim – 秘密')
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(body))
  expect(headers).toMatchObject({
    'x-github-event': 'ping',
    'x-hub-signature-256': `sha256=${Buffer.from(signature).toString('hex')}`,
    'user-agent': expect.stringMatching(/^GitHub-Hookshot\//) as string,
  })
})

test('a refused delivery is not retried; a redelivery has the same guid and bytes', async () => {
  const receiver = await startReceiver((n) => (n < 5 ? 503 : 202))
  const github = await startGithub({ webhookUrl: receiver.url })
  await github.settle()
  pushed(github)
  await github.settle()
  expect(github.deliveries().map(({ statusCode }) => statusCode)).toEqual([503, 503, 503, 503, 503])
  const [first, second] = runs(github).map(({ guid }) => guid) as [string, string]
  expect(github.resendInOrder([second, 'nothing', first])).toEqual([second, first])
  await github.settle()
  const got = receiver.requests.map(({ headers, body }) => `${headers['x-github-delivery'] as string} ${body}`)
  expect(got.slice(5)).toEqual(got.slice(3, 5).toReversed())
  github.setWebhookUrl(null)
  expect(github.redeliver(first)).toBeUndefined()
})
