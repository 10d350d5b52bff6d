import { onTestFinished, test, expect } from 'vitest'
import { startGithub } from '../../packages/sandbox-github/test/support.ts'
import { createSandboxGitlab } from '../../packages/sandbox-gitlab/src/server.ts'
import { recordDelivery } from '../../src/alerts/record/record.ts'
import { createSources } from '../../src/runtime/clients.ts'
import { githubProjectId, gitlabProjectId, type ProjectId } from '../../src/domain/ids.ts'
import { CLAIMS_MAX, createCheckClaims } from '../../src/ci-sync/reading.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createGithubClient } from '../../src/sources/github/client.ts'
import { readRun } from '../../src/sources/github/run.ts'
import { createGitlabClient } from '../../src/sources/gitlab/client.ts'
import { readPipeline } from '../../src/sources/gitlab/pipeline.ts'
import { createTransport } from '../../src/sources/http/transport.ts'
import { openStage } from '../alerts/stage.ts'

/** A bot that gets deliveries of GitHub and GitLab and can ask both. */
async function openClaims({ isReadable = true } = {}) {
  const stage = await openStage()
  onTestFinished(() => stage[Symbol.asyncDispose]())
  const github = await startGithub()
  const gitlab = createSandboxGitlab()
  await gitlab.start()
  // Nothing here waits before it is tried again.
  const transport = createTransport({ clock: { ...systemClock, sleep: async () => {} } })
  onTestFinished(async () => {
    await transport.close()
    await gitlab.stop()
  })
  const { store } = stage
  const warned: unknown[] = []
  const log = { debug() {}, info() {}, warn: (...said: unknown[]) => void warned.push(said), error() {} }
  const [hub, lab] = [github.address(), gitlab.address()]
  const clients = {
    v2: null,
    legacy: null,
    github: createGithubClient({ apiUrl: hub.apiUrl, token: hub.token, transport }),
    gitlab: createGitlabClient({ url: lab.url, token: lab.token, transport }),
  }
  const check = createCheckClaims({ store, clock: systemClock, log, sources: createSources(clients, store.read) })
  const recording = { store, clock: systemClock, isReadable: () => isReadable }
  let builds = 0
  return {
    github,
    gitlab,
    warned,
    check: () => check(new AbortController().signal),
    /** The project of a repository's workflow *CI*. */
    idOf(name: string): ProjectId {
      const { id, workflows } = github.state().repositories.find((one) => one.name === name)!
      return githubProjectId(String(id), String(workflows[0]!.id))
    },
    /** GitHub delivers a run, or somebody else does. */
    async hear(projectId: ProjectId, full_name: string, default_branch = 'main'): Promise<void> {
      const [, id, workflow_id] = projectId.split(':')
      const repository = { id, full_name, html_url: null, default_branch }
      const run = { id: ++builds, workflow_id, status: 'in_progress', event: 'push', head_branch: 'main' }
      await recordDelivery(recording, { ...readRun(run, repository, { name: 'CI' })!, body: '{}' })
    },
    async hearGitlab(id: number, path_with_namespace: string, default_branch = 'main'): Promise<void> {
      const pipeline = { id: ++builds, status: 'running', ref: 'main' }
      const project = { id, path_with_namespace, web_url: null, default_branch }
      await recordDelivery(recording, { ...readPipeline({ pipeline, project })!, body: '{}' })
    },
    /** `acme/web CI of main` */
    async stored(projectId: ProjectId): Promise<string> {
      const project = await store.read.project({ uuid: null, legacyId: projectId, names: [] })
      return `${project?.name} of ${project?.rules?.[0]?.branch}`
    },
    claims: async () => (await store.read.claimedProjects('', 100)).length,
  }
}

test('a known repository keeps its name until GitHub confirms the one that a delivery says', async () => {
  const { github, hear, check, idOf, stored, claims } = await openClaims()
  const web = idOf('acme/web')
  await hear(web, 'acme/web')
  github.rename('acme/web', 'acme/site')
  await hear(web, 'acme/site')
  expect(await stored(web)).toBe('acme/web CI of main')
  await check()
  expect(await stored(web)).toBe('acme/site CI of main')
  expect(await claims()).toBe(0)
})

test('a delivery with the id of one repository and the name of another one changes nothing', async () => {
  const { hear, check, idOf, stored, claims } = await openClaims()
  const web = idOf('acme/web')
  await hear(web, 'acme/web')
  await hear(web, 'acme/api')
  await check()
  expect(await stored(web)).toBe('acme/web CI of main')
  expect(await claims()).toBe(0)
})

test('a first delivery may have any name; the next one that differs has it corrected', async () => {
  const { hear, check, idOf, stored } = await openClaims()
  const web = idOf('acme/web')
  await hear(web, 'acme/api')
  await hear(web, 'acme/web')
  await check()
  expect(await stored(web)).toBe('acme/web CI of main')
})

test('a delivered default branch, which decides who is told, counts once it was read', async () => {
  const { hear, hearGitlab, check, idOf, stored } = await openClaims()
  const [web, ofGitlab] = [idOf('acme/web'), gitlabProjectId('71')]
  for (const branch of ['main', 'nowhere']) {
    await hear(web, 'acme/web', branch)
    await hearGitlab(71, 'acme/web', branch)
  }
  await check()
  expect(await stored(web)).toBe('acme/web CI of main')
  expect(await stored(ofGitlab)).toBe('acme/web of main')
})

test('a repository is followed to its new name when another one has got the old one', async () => {
  const { github, hear, check, idOf, stored } = await openClaims()
  const [web, api] = [idOf('acme/web'), idOf('acme/api')]
  await hear(web, 'acme/web')
  await hear(api, 'acme/api')
  github.rename('acme/web', 'acme/site')
  github.rename('acme/api', 'acme/web')
  await hear(web, 'acme/site')
  await hear(api, 'acme/web')
  await check()
  expect(await stored(web)).toBe('acme/site CI of main')
  expect(await stored(api)).toBe('acme/web CI of main')
})

test('a project of GitLab is read by its id', async () => {
  const { gitlab, hearGitlab, check, stored } = await openClaims()
  const web = gitlabProjectId('71')
  await hearGitlab(71, 'acme/web')
  await hearGitlab(71, 'acme/api')
  await check()
  expect(await stored(web)).toBe('acme/web of main')
  gitlab.rename('acme/web', 'acme/tools/site')
  await hearGitlab(71, 'acme/tools/site')
  await check()
  expect(await stored(web)).toBe('acme/tools/site of main')
})

test('a repository that the token cannot see under either name is called as it was delivered last', async () => {
  const { hear, check, stored } = await openClaims()
  const hidden = githubProjectId('9', '9')
  await hear(hidden, 'acme/hidden')
  await hear(hidden, 'acme/hidden-too')
  await check()
  expect(await stored(hidden)).toBe('acme/hidden-too CI of main')
})

test('what cannot be read now is read in a later round, and holds up no other', async () => {
  const { github, hear, check, idOf, stored, claims, warned } = await openClaims()
  const ids = [idOf('acme/web'), idOf('acme/api'), idOf('acme/ios')]
  for (const [at, name] of ['acme/web', 'acme/api', 'acme/ios'].entries()) {
    await hear(ids[at]!, name)
    github.rename(name, `${name}-2`)
    await hear(ids[at]!, `${name}-2`)
  }
  // A read is tried three times.
  github.failNext(3, 500)
  await check()
  expect(warned).toHaveLength(1)
  expect(await claims()).toBe(1)
  github.setOutage(true)
  await check()
  expect(await claims()).toBe(1)
  github.setOutage(false)
  await check()
  expect(await claims()).toBe(0)
  expect(await stored(ids[0]!)).toBe('acme/web-2 CI of main')
})

test(`a round reads ${CLAIMS_MAX} projects, and the next one the others`, async () => {
  const { hear, check, claims } = await openClaims()
  for (let id = 1; id <= CLAIMS_MAX + 2; id++)
    for (const name of ['acme/one', 'acme/two']) await hear(githubProjectId(String(id), '1'), name)
  expect(await claims()).toBe(CLAIMS_MAX + 2)
  await check()
  expect(await claims()).toBe(2)
  await check()
  expect(await claims()).toBe(0)
})

test('without a token nothing can be written to GitHub, and the newest delivery counts at once', async () => {
  const { hear, idOf, stored, claims } = await openClaims({ isReadable: false })
  const web = idOf('acme/web')
  await hear(web, 'acme/web')
  await hear(web, 'acme/site', 'trunk')
  expect(await stored(web)).toBe('acme/site CI of trunk')
  expect(await claims()).toBe(0)
})
