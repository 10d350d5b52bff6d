import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { messagesIn } from '../../packages/demo/src/stage.ts'
import { signatureOf } from '../../packages/sandbox-github/src/hooks.ts'
import { pushed, startGithub } from '../../packages/sandbox-github/test/support.ts'
import { signed } from '../../packages/sandbox-gitlab/src/hook.ts'
import { createSandboxGitlab } from '../../packages/sandbox-gitlab/src/server.ts'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'
import { openStage, rowsOf, settled, type Stage } from '../support/app.ts'

// A delivery that is stored is a duplicate when its source sends it again, whatever has come since.

interface Sent {
  body: string
  headers: Record<string, string>
}

interface Hooked extends Stage {
  path: string
  /** A build whose first attempt failed, and whose second one runs: everything that was delivered about it. */
  delivered(): Promise<Sent[]>
  /** The headers that prove the sender of a body. */
  proofOf(body: string, id: string): Record<string, string>
  /** the header with the delivery's id */
  idIn: string
}

const CARDS = { DEFAULT_CHANNEL: CHANNELS.builds, WEBHOOK_SECRET: undefined }

async function openGithub(): Promise<Hooked> {
  const github = await startGithub()
  const { webhookSecret } = github.address()
  const stage = await openStage({ settings: { ...CARDS, GITHUB_WEBHOOK_SECRET: webhookSecret } })
  github.setWebhookUrl(`${stage.app.url}/webhooks/github`)
  const proofOf = (body: string, id: string) => ({
    'x-github-event': 'workflow_run',
    'x-github-delivery': id,
    'x-hub-signature-256': signatureOf(webhookSecret, body),
  })
  return {
    ...stage,
    path: '/webhooks/github',
    proofOf,
    idIn: 'x-github-delivery',
    async delivered() {
      const { id } = pushed(github, { outcome: 'none' })
      github.finish(id, 'failure')
      await github.settle()
      github.rerun(id, { outcome: 'none' })
      await github.settle()
      return github
        .deliveries()
        .filter(({ event }) => event === 'workflow_run')
        .map(({ body, guid }) => ({ body, headers: proofOf(body, guid) }))
    },
  }
}

const SIGNING_TOKEN = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

const openGitlab = (signingToken: string | null) => async (): Promise<Hooked> => {
  const gitlab = createSandboxGitlab()
  await gitlab.start()
  onTestFinished(() => gitlab.stop())
  const token = gitlab.address().webhookToken!
  const stage = await openStage({ settings: { ...CARDS, GITLAB_WEBHOOK_SECRET: `${token},${SIGNING_TOKEN}` } })
  gitlab.setWebhookUrl(`${stage.app.url}/webhooks/gitlab`)
  const proofOf = (body: string, id: string): Record<string, string> => ({
    'x-gitlab-event': 'Pipeline Hook',
    ...(signingToken === null
      ? { 'x-gitlab-token': token, 'idempotency-key': id }
      : signed(signingToken, id, Date.now(), body)),
  })
  return {
    ...stage,
    path: '/webhooks/gitlab',
    proofOf,
    idIn: signingToken === null ? 'idempotency-key' : 'webhook-id',
    async delivered() {
      const pushing = gitlab.push('acme/web', { jobs: [{ name: 'unit' }], outcome: 'none' })
      const { id } = pushing.kind === 'pipeline' ? pushing.pipeline : { id: 0 }
      gitlab.finish(id, 'failed', ['unit'])
      gitlab.retry(id, { outcome: 'none' })
      await gitlab.settle()
      return gitlab.deliveries().map(({ body, idempotencyKey }) => ({ body, headers: proofOf(body, idempotencyKey) }))
    },
  }
}

async function post({ app, path }: Hooked, { body, headers }: Sent): Promise<[number, unknown]> {
  const answer = await fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  return [answer.status, ((await answer.json()) as { status: string }).status]
}

const storedIn = ({ folder }: Stage) => rowsOf(folder, 'select count(*) as deliveries from delivery')

const SOURCES = [
  ['GitHub', openGithub],
  ['GitLab with a token', openGitlab(null)],
  ['GitLab with a signature', openGitlab(SIGNING_TOKEN)],
] as const

test.each(SOURCES)('%s: each is a duplicate, and changes nothing', async (_, open) => {
  const stage = await open()
  const all = await stage.delivered()
  // The sandbox of GitLab has no signing token: these are delivered by hand.
  if (stage.idIn === 'webhook-id') for (const one of all) await post(stage, one)
  await settled(stage.app.url)
  const stored = storedIn(stage)
  const seen = JSON.stringify(messagesIn(stage.slack, CHANNELS.builds))
  expect(all.length).toBeGreaterThan(2)
  for (const one of all) expect(await post(stage, one)).toEqual([202, 'duplicate'])
  await settled(stage.app.url)
  expect(storedIn(stage)).toEqual(stored)
  expect(JSON.stringify(messagesIn(stage.slack, CHANNELS.builds))).toBe(seen)
})

test.each(SOURCES)('%s: a forged one keeps no real one away', async (_, open) => {
  const stage = await open()
  const [first] = await stage.delivered()
  const another = JSON.parse(
    first!.body.replaceAll(/"id":(\d+)/g, (_found, id: string) => `"id":${Number(id) + 500}`),
  ) as object
  const body = JSON.stringify(another)
  const id = randomUUID()
  const wrong = Object.fromEntries(
    Object.entries(stage.proofOf(body, id)).map(([name, value]) => [
      name,
      /token|signature/.test(name) ? `${value}x` : value,
    ]),
  )
  expect(await post(stage, { body, headers: wrong })).toEqual([401, 'refused'])
  expect(await post(stage, { body, headers: stage.proofOf(body, id) })).toEqual([202, 'recorded'])
  // The id of a stored one, with another body: not the same delivery.
  const third = body.replaceAll(/"id":(\d+)/g, (_found, of: string) => `"id":${Number(of) + 1}`)
  expect(await post(stage, { body: third, headers: stage.proofOf(third, id) })).toEqual([202, 'recorded'])
})
