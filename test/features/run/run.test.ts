import { expect, onTestFinished, test } from 'vitest'
import { createSandboxGithub } from '../../../packages/sandbox-github/src/server.ts'
import { createSandboxGitlab } from '../../../packages/sandbox-gitlab/src/server.ts'
import { recordLookedUp } from '../../../src/alerts/record/record.ts'
import { isProjectRequest } from '../../../src/domain/cards/request.ts'
import { githubProjectId, gitlabProjectId } from '../../../src/domain/ids.ts'
import { confirmRuns } from '../../../src/features/run/slack.ts'
import { answerRun } from '../../../src/features/run/messages.ts'
import { startRun, type Wanted } from '../../../src/features/run/run.ts'
import type { Requester } from '../../../src/projects/outcomes.ts'
import { createSources } from '../../../src/runtime/clients.ts'
import { createGithubClient } from '../../../src/sources/github/client.ts'
import { createGitlabClient } from '../../../src/sources/gitlab/client.ts'
import { createTransport } from '../../../src/sources/http/transport.ts'
import { buildId, MINUTE } from '../../support/build-events.ts'
import { GRACE, lin, openStage, type Stage } from '../operations-stage.ts'

const SECOND = 1_000

/** A bot that knows acme/web CI on GitHub and acme/web on GitLab. Time stands still. */
async function openRuns() {
  const stage = await openStage()
  const { clock } = stage
  const github = createSandboxGithub({ clock })
  const gitlab = createSandboxGitlab({ clock, projects: ['acme/lib'] })
  const transport = createTransport({ clock, random: () => 0 })
  await Promise.all([github.start(), gitlab.start()])
  onTestFinished(async () => {
    await transport.close()
    await Promise.all([github.stop(), gitlab.stop()])
    await stage[Symbol.asyncDispose]()
  })
  const { store } = stage.main.deps
  const hosted = {
    github: createGithubClient({ ...github.address(), transport }),
    gitlab: createGitlabClient({ ...gitlab.address(), transport }),
  }
  const sources = createSources({ v2: null, legacy: null, ...hosted }, store.read)
  const process = stage.another({ sources })
  const { deps } = process
  const [repository] = github.state().repositories
  const workflow = repository!.workflows[0]!
  const ci = githubProjectId(String(repository!.id), String(workflow.id))
  const pushedAs = github.push('acme/web', { outcome: 'none' })
  const pipelineAs = gitlab.push('acme/lib', { outcome: 'none' })
  if (pushedAs.kind !== 'run' || pipelineAs.kind !== 'pipeline') throw new Error('nothing was pushed')
  for (const [projectId, project, id] of [
    [ci, 'acme/web CI', pushedAs.run.id],
    [gitlabProjectId('71'), 'acme/lib', pipelineAs.pipeline.id],
  ] as const) {
    const nothing = { projectUuid: null, buildUuid: null, branch: null, number: null, commit: null }
    const read = await sources(projectId)!.readBuild({ projectId, project, buildId: buildId(String(id)), ...nothing })
    await recordLookedUp(deps, { event: read!.event!, project: read!.project }, 'history')
  }
  await clock.advance(10 * MINUTE)
  /** Starts it, while time passes as far as it needs to. */
  async function run(wanted: Partial<Wanted> = {}, by: Requester = lin()) {
    const outcome = startRun(deps, { project: 'acme/web CI', ref: 'main', values: {}, ...wanted }, by)
    const ended = new AbortController()
    void outcome.finally(() => ended.abort()).catch(() => {})
    while (!ended.signal.aborted) await clock.advance(100)
    return outcome
  }
  return {
    stage,
    github,
    gitlab,
    deps,
    run,
    runs: () => github.state().runs.filter(({ event }) => event === 'workflow_dispatch'),
    requests: () => requestsIn(stage),
    /** Lets time pass; the job looks every five seconds. */
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 5 * SECOND) {
        await clock.advance(Math.min(left, 5 * SECOND))
        await confirmRuns(deps)
      }
    },
    toldTo: (user: string) => stage.said.filter(({ to }) => to === user).map(({ text }) => text),
  }
}

const linked = (part: string | number): unknown => expect.stringContaining(String(part))

const requestsIn = async ({ reconcile: { store } }: Stage) =>
  (await store.read.requestsAfter({ requestedAt: 0, id: '' }, 100)).filter(isProjectRequest)

test('a run whose answer was lost is looked up by its account, branch, event and time, and not started again', async () => {
  const { github, run, runs, requests } = await openRuns()
  github.push('acme/web', { event: 'workflow_dispatch', author: { login: 'grace' }, outcome: 'none' })
  github.push('acme/web', { event: 'workflow_dispatch', author: { login: 'ci-bot' }, branch: 'topic', outcome: 'none' })
  github.push('acme/web', { event: 'push', author: { login: 'ci-bot' }, outcome: 'none' })
  github.loseNext(1)
  const outcome = await run()
  expect(runs()).toHaveLength(3)
  expect(outcome).toMatchObject({ kind: 'started', build: { url: linked(runs().at(-1)!.id) } })
  expect(await requests()).toMatchObject([{ action: 'run', state: 'confirmed', newBuildId: String(runs().at(-1)!.id) }])
})

test('a server that cannot name its run is not asked to, and the run is looked up', async () => {
  const { github, run, runs } = await openRuns()
  for (const version of ['3.17.0', '3.20.4', '3.21.0']) {
    github.setServerVersion(version)
    expect(await run({}, lin({ interactionKey: version }))).toMatchObject({
      kind: 'started',
      build: { url: linked(runs().at(-1)!.id) },
    })
  }
  expect(runs()).toHaveLength(3)
})

test.each([
  ['', 'started'],
  [' if the answer was lost either', 'unclear'],
])('of two runs that may be meant, none is taken%s', async (_, kind) => {
  const { github, run, runs, requests, pass, toldTo } = await openRuns()
  if (kind === 'started') github.setServerVersion('3.17.0')
  github.push('acme/web', { event: 'workflow_dispatch', author: { login: 'ci-bot' }, outcome: 'none' })
  if (kind === 'unclear') github.loseNext(1)
  const outcome = await run()
  expect(outcome).toMatchObject({ kind })
  expect(outcome).not.toHaveProperty('build.url')
  expect(runs()).toHaveLength(2)
  await pass(3 * MINUTE)
  expect(await requests()).toMatchObject([{ state: 'unconfirmed', code: 'not-shown', newBuildId: null }])
  expect(toldTo(lin().user)).toEqual([expect.stringContaining('No build was found')])
})

test('a start that GitHub has not carried out ends after two minutes, and its requester is told', async () => {
  const { github, run, runs, requests, pass, toldTo } = await openRuns()
  github.failNext(1, 502, 'POST')
  expect(await run()).toMatchObject({ kind: 'unclear', code: 'server' })
  expect(await run({}, lin({ user: GRACE, interactionKey: 'grace' }))).toMatchObject({
    kind: 'asked-already',
    by: lin().user,
  })
  await pass(MINUTE)
  expect(await requests()).toMatchObject([{ state: 'unclear' }])
  await pass(2 * MINUTE)
  expect(await requests()).toMatchObject([{ state: 'unconfirmed', code: 'not-shown' }])
  expect(toldTo(lin().user)).toEqual([expect.stringContaining('No build was found')])
  expect(runs()).toEqual([])
  // Then it can be started.
  expect(await run({}, lin({ user: GRACE, interactionKey: 'later' }))).toMatchObject({ kind: 'started' })
})

test('a run that GitHub shows only later is found by the job, which sends its link', async () => {
  const { github, run, runs, pass, toldTo, requests } = await openRuns()
  github.setServerVersion('3.17.0')
  github.failNext(30, 503, 'GET')
  const starting = run()
  // The file has been read before GitHub begins to fail.
  expect(await starting).toMatchObject({ kind: 'ci-trouble' })
  github.failNext(0, 503)
  github.loseNext(1)
  const unclear = run({}, lin({ interactionKey: 'second' }))
  while (runs().length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  github.failNext(100, 503, 'GET')
  expect(await unclear).toMatchObject({ kind: 'unclear' })
  github.failNext(0, 503)
  await pass(30 * SECOND)
  expect(toldTo(lin().user)).toEqual([expect.stringContaining(`/actions/runs/${runs()[0]!.id}`)])
  expect(await requests()).toMatchObject([{ state: 'confirmed' }])
})

test('a process that died during its call leaves the look-up to the next one, and the same interaction starts nothing', async () => {
  const { github, deps, run, runs, requests, pass } = await openRuns()
  github.loseNext(1)
  const dead = { ...deps, store: { ...deps.store, write: failingAfterFirst(deps.store.write) } }
  const by = lin()
  const left = startRun(dead, { project: 'acme/web CI', ref: 'main', values: {} }, by).catch(() => 'died')
  while (runs().length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  expect(await requests()).toMatchObject([{ state: 'calling' }])
  expect(await run({}, by)).toMatchObject({ kind: 'asked-already' })
  await pass(2 * MINUTE)
  await left
  expect(runs()).toHaveLength(1)
  expect(await requests()).toMatchObject([{ state: 'confirmed', newBuildId: String(runs()[0]!.id) }])
})

/** As of a process that dies after it has recorded its request. */
function failingAfterFirst<Write extends (...args: never[]) => Promise<unknown>>(write: Write): Write {
  let calls = 0
  const once = (...args: Parameters<Write>) =>
    calls++ === 0 ? write(...args) : Promise.reject(new Error('it is dead'))
  return once as unknown as Write
}

test('a pipeline of GitLab is started with inputs, by their types, and with variables', async () => {
  const { gitlab, run, requests } = await openRuns()
  gitlab.setFile(
    'acme/lib',
    '.gitlab-ci.yml',
    'spec:\n  inputs:\n    stage: { options: [a, b] }\n    dry: { type: boolean, default: true }\n---\nvariables:\n  ENV: { description: Where, value: staging, options: [staging, production] }\n  OWN: x\nunit: { script: !reference [.x, script] }\n',
  )
  const lib = { project: 'acme/lib' }
  expect(await run(lib)).toMatchObject({ kind: 'faults', faults: [{ name: 'stage', why: 'missing' }] })
  expect(await run({ ...lib, values: { stage: 'c', ENV: 'test' } })).toMatchObject({
    kind: 'faults',
    faults: [
      { name: 'stage', why: 'choice' },
      { name: 'ENV', options: ['staging', 'production'] },
    ],
  })
  expect(await run({ ...lib, ref: 'gone' })).toMatchObject({ kind: 'not-startable', why: { kind: 'no-ref' } })
  const outcome = await run({ ...lib, values: { stage: 'a', dry: 'false', ENV: 'production', OTHER: '1' } })
  expect(outcome).toMatchObject({ kind: 'started', build: { url: linked('/-/pipelines/') } })
  expect(gitlab.state().pipelines.at(-1)).toMatchObject({ source: 'api', branch: 'main' })
  expect(await requests()).toMatchObject([{ state: 'confirmed', what: ['main', 'stage', 'dry', 'ENV', 'OTHER'] }])
})

test('GitLab says why it refuses, and a pipeline whose answer was lost is looked up', async () => {
  const { gitlab, run } = await openRuns()
  const lib = { project: 'acme/lib' }
  gitlab.setSwitches({ isBranchProtected: true })
  expect(await run(lib)).toMatchObject({ kind: 'ci-refused', code: 'forbidden' })
  gitlab.setSwitches({ isBranchProtected: false, areVariablesRefused: true })
  const refused = await run({ ...lib, values: { A: '1' } }, lin({ interactionKey: 'second' }))
  expect(refused).toMatchObject({ kind: 'ci-refused', reason: expect.stringContaining('Insufficient permissions') })
  gitlab.push('acme/lib', { source: 'web', outcome: 'none' })
  gitlab.loseNext(1)
  expect(await run(lib, lin({ interactionKey: 'third' }))).toMatchObject({ kind: 'started' })
  expect(gitlab.state().pipelines.filter(({ source }) => source === 'api')).toHaveLength(1)
})

test('a project of the CI service cannot be started, and neither can one whose source has no token', async () => {
  const { stage, run } = await openRuns()
  expect(await run({ project: 'acme/web' })).toMatchObject({
    kind: expect.stringMatching(/cannot-run|several-projects/),
  })
  const { deps } = stage.another({ sources: () => null })
  const outcome = await startRun(deps, { project: 'acme/lib', ref: 'main', values: {} }, lin())
  expect(answerRun(outcome, { command: 'run', reference: 'r' }).text).toContain('GITLAB_TOKEN is not set')
})
