import { Gitlab } from '@gitbeaker/rest'
import { expect, onTestFinished, test } from 'vitest'
import { accountOf, USER } from '../../../packages/sandbox-gitlab/src/entities.ts'
import { pushed, startGitlab } from '../../../packages/sandbox-gitlab/test/support.ts'
import type { SandboxGitlab } from '../../../packages/sandbox-gitlab/src/server.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createGitlabClient, type GitlabClient } from '../../../src/sources/gitlab/client.ts'
import { createTransport, type Transport } from '../../../src/sources/http/transport.ts'

// A third-party client knows GitLab's addresses: the bot's client must ask for the same.

type Stranger = InstanceType<typeof Gitlab<false>>

interface Pair {
  ours: (client: GitlabClient, id: number, sha: string, job: number, deployment: number) => Promise<unknown>
  theirs: (client: Stranger, id: number, sha: string, job: number, deployment: number) => Promise<unknown>
}

const QA = 'qa'
const QA_ID = accountOf(QA).id

const SINCE = '2026-08-12T15:23:28.000Z'
const PAGE = { perPage: 100, page: 1, maxPages: 1 }

/** Every call of the bot's client (`lastRate` makes none), as the third-party client makes it. */
const CALLS: Readonly<Record<Exclude<keyof GitlabClient, 'lastRate'>, Pair>> = {
  project: {
    ours: (client) => client.project('acme/web'),
    theirs: (client) => client.Projects.show('acme/web'),
  },
  rate: {
    ours: (client) => client.rate('acme/web'),
    theirs: (client) => client.Projects.show('acme/web'),
  },
  scopes: {
    ours: (client) => client.scopes(),
    theirs: (client) => client.PersonalAccessTokens.show(),
  },
  pipelines: {
    ours: (client) => client.pipelines('acme/web', { ref: 'main', updatedAfter: SINCE }),
    theirs: (client) =>
      client.Pipelines.all('acme/web', { ref: 'main', updatedAfter: SINCE, orderBy: 'updated_at', ...PAGE }),
  },
  pipeline: {
    ours: (client, id) => client.pipeline('acme/web', String(id)),
    theirs: (client, id) => client.Pipelines.show('acme/web', id),
  },
  failedJobs: {
    ours: (client, id) => client.failedJobs('acme/web', String(id)),
    theirs: (client, pipelineId) => client.Jobs.all('acme/web', { pipelineId, scope: 'failed', ...PAGE }),
  },
  failedBridges: {
    ours: (client, id) => client.failedBridges('acme/web', String(id)),
    theirs: (client, id) => client.Jobs.allPipelineBridges('acme/web', id, { scope: 'failed', ...PAGE }),
  },
  testSummary: {
    ours: (client, id) => client.testSummary('acme/web', String(id)),
    theirs: (client, id) => client.Pipelines.showTestReportSummary('acme/web', id),
  },
  testReport: {
    ours: (client, id) => client.testReport('acme/web', String(id)),
    theirs: (client, id) => client.Pipelines.showTestReport('acme/web', id),
  },
  trace: {
    ours: (client, _, __, job) => client.trace('acme/web', String(job)),
    theirs: (client, _, __, job) => client.Jobs.showLog('acme/web', job),
  },
  branch: {
    ours: (client) => client.branch('acme/web', 'main'),
    theirs: (client) => client.Branches.show('acme/web', 'main'),
  },
  mergeRequest: {
    ours: (client) => client.mergeRequest('acme/web', '7'),
    theirs: (client) => client.MergeRequests.show('acme/web', 7),
  },
  hooks: {
    ours: (client) => client.hooks('acme/web'),
    theirs: (client) => client.ProjectHooks.all('acme/web', PAGE),
  },
  commit: {
    ours: (client, _, sha) => client.commit('acme/web', sha),
    theirs: (client, _, sha) => client.Commits.show('acme/web', sha),
  },
  retry: {
    ours: (client, id) => client.retry('acme/web', String(id)),
    theirs: (client, id) => client.Pipelines.retry('acme/web', id),
  },
  file: {
    ours: (client) => client.file('acme/web', '.gitlab-ci.yml', 'main'),
    theirs: (client) => client.RepositoryFiles.show('acme/web', '.gitlab-ci.yml', 'main'),
  },
  user: {
    ours: (client) => client.user(),
    theirs: (client) => client.Users.showCurrentUser(),
  },
  create: {
    ours: (client) =>
      client.create('acme/web', { ref: 'main', inputs: {}, variables: [{ key: 'ENV', value: 'staging' }] }),
    theirs: (client) => client.Pipelines.create('acme/web', 'main', { variables: [{ key: 'ENV', value: 'staging' }] }),
  },
  manualJobs: {
    ours: (client, id) => client.manualJobs('acme/web', String(id)),
    theirs: (client, pipelineId) => client.Jobs.all('acme/web', { pipelineId, scope: 'manual', ...PAGE }),
  },
  play: {
    ours: (client, _, __, job) => client.play('acme/web', String(job)),
    theirs: (client, _, __, job) => client.Jobs.play('acme/web', job),
  },
  blockedDeployments: {
    ours: (client) => client.blockedDeployments('acme/web'),
    theirs: (client) => client.Deployments.all('acme/web', { status: 'blocked', orderBy: 'id', sort: 'desc', ...PAGE }),
  },
  deployment: {
    ours: (client, _, __, ___, id) => client.deployment('acme/web', String(id)),
    theirs: (client, _, __, ___, id) => client.Deployments.show('acme/web', id),
  },
  review: {
    ours: (client, _, __, ___, id) =>
      client.review('acme/web', String(id), { status: 'approved', comment: 'Tested.', represented_as: QA }),
    theirs: (client, _, __, ___, id) =>
      client.Deployments.setApproval('acme/web', id, 'approved', { comment: 'Tested.', representedAs: QA }),
  },
  member: {
    ours: (client) => client.member(String(QA_ID), String(USER.id), true),
    theirs: (client) => client.GroupMembers.show(QA_ID, USER.id, { includeInherited: true }),
  },
  cancel: {
    ours: (client, id) => client.cancel('acme/web', String(id)),
    theirs: (client, id) => client.Pipelines.cancel('acme/web', id),
  },
}

/** The one call that a client made, and how GitLab answered it. */
async function callOf(how: Pair['ours'] | Pair['theirs'], client: (gitlab: SandboxGitlab) => GitlabClient | Stranger) {
  const gitlab = await startGitlab({ webhookUrl: 'http://127.0.0.1:9/hook' })
  const { id, sha } = pushed(gitlab, { outcome: 'none', sha: 'bcbb5ec396a2c0f828686f14fac9b80b780504f2' })
  gitlab.setFile('acme/web', '.gitlab-ci.yml', 'unit: {}')
  pushed(gitlab, { outcome: 'none', branch: 'fix', mergeRequest: { iid: 7 } })
  gitlab.protect('acme/web', 'production', [{ group: { name: QA, members: [USER.name] } }])
  const jobs = [
    { name: 'deploy', manual: true },
    { name: 'eu', environment: 'production' },
  ]
  const waiting = pushed(gitlab, { outcome: 'none', user: 'Grace', jobs })
  gitlab.advance(waiting.id, 'manual')
  const [job, eu] = waiting.jobs
  await how(client(gitlab) as GitlabClient & Stranger, id, sha, job!.id, eu!.deployment!.id).catch(() => {})
  const calls = gitlab.calls().map(({ method, path, query, statusCode }) => {
    const asked = [...new URLSearchParams(query)].map(([name, value]) => `${name.replace('[]', '')}=${value}`)
    return { method, path, query: asked.toSorted(), statusCode }
  })
  expect(calls).toHaveLength(1)
  return calls[0]!
}

const stranger = (gitlab: SandboxGitlab) => new Gitlab({ host: gitlab.address().url, token: gitlab.address().token })

const our =
  (through: (transport: Transport) => Transport = (transport) => transport) =>
  (gitlab: SandboxGitlab) => {
    const transport = createTransport({ clock: systemClock })
    onTestFinished(() => transport.close())
    const { url, token } = gitlab.address()
    return createGitlabClient({ url, token, transport: through(transport) })
  }

test.each(Object.entries(CALLS))(
  '%s asks for what a third-party client asks for, and GitLab has it',
  async (_, pair) => {
    const ours = await callOf(pair.ours, our())
    expect(ours).toEqual(await callOf(pair.theirs, stranger))
    expect(ours.statusCode).toBeLessThan(300)
  },
)

test.each(Object.entries(CALLS))('%s at another address is noticed', async (_, pair) => {
  const elsewhere = (transport: Transport): Transport => ({
    ...transport,
    send: (request, signal) =>
      transport.send({ ...request, url: new URL(`${request.url.pathname}s`, request.url) }, signal),
  })
  const ours = await callOf(pair.ours, our(elsewhere))
  expect(ours.path).not.toBe((await callOf(pair.theirs, stranger)).path)
  expect(ours.statusCode).toBe(404)
})
