import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { SandboxGithub } from '../../../packages/sandbox-github/src/server.ts'
import { ended, pushed, startGithub } from '../../../packages/sandbox-github/test/support.ts'
import { isRecord } from '../../../src/lib/json.ts'
import { describeOutside } from '../../support/outside.ts'
import { differences, readStory, type Recorded } from './recorded.ts'

const RUN_TEST = 'hub4j-test-org/GHWorkflowRunTest'
const WORKFLOWS = ['Fast', 'Slow', 'Failing', 'Artifacts', 'Multi jobs', 'Startup failure']
const REPOSITORIES = [
  { name: RUN_TEST, workflows: WORKFLOWS.map((name) => `${name} workflow`) },
  { name: 'hub4j-test-org/GHWorkflowTest', workflows: ['Test workflow'] },
]

/** Recorded requests that the sandbox does not answer, each with the reason. */
const NOT_ANSWERED = new Map([[`GET /repos/${RUN_TEST}/pulls`, 'the bot does not list pull requests']])

interface Story {
  /** Makes the situation of the recording. Returns the ids that the recording has for ours. */
  seed?(github: SandboxGithub): Record<string, number> | void
  /** What happens in the meantime: before the request with this number. */
  before?: Record<number, (github: SandboxGithub) => void | Promise<void>>
}

const newest = (github: SandboxGithub) => github.state().runs.at(-1)!
const passed = (github: SandboxGithub, workflow: string) =>
  void github.finish(pushed(github, { workflow, event: 'workflow_dispatch' }, RUN_TEST).id, 'success')
const pass = (github: SandboxGithub) => void github.finish(newest(github).id, 'success')
const fail = (github: SandboxGithub) => void github.finish(newest(github).id, 'failure')
const cancelled = (github: SandboxGithub) => ended(github, newest(github).id, 'cancelled')

const STORIES: Record<string, Story> = {
  testApproval: {
    seed(github) {
      for (const name of ['Failing', 'Fast', 'Artifacts', 'Slow'])
        pushed(github, { workflow: `${name} workflow`, fork: 'grace-example', needsApproval: true }, RUN_TEST)
    },
    before: { 5: (github) => void github.finish(github.state().runs[1]!.id, 'success') },
  },
  testCancelAndRerun: { seed: (github) => passed(github, 'Fast workflow'), before: { 8: cancelled } },
  testDispatch: {},
  testForceCancel: { seed: (github) => passed(github, 'Fast workflow'), before: { 8: cancelled } },
  testJobs: { seed: (github) => passed(github, 'Multi jobs workflow'), before: { 6: pass } },
  testLogs: { seed: (github) => passed(github, 'Fast workflow'), before: { 6: pass } },
  testRerunVariants: {
    seed(github) {
      const { id } = pushed(github, { workflow: 'Slow workflow' }, RUN_TEST)
      github.finish(id, 'failure')
      return { 686036126: id }
    },
    before: { 5: fail, 6: fail, 7: fail },
  },
  testStartupFailureConclusion: {
    seed(github) {
      const { id } = pushed(github, { workflow: 'Startup failure workflow' }, RUN_TEST)
      github.finish(id, 'startup_failure')
    },
  },
}

describeOutside('github-recorded', 'the sandbox GitHub answers recorded requests as GitHub did', (folder) => {
  test.each(Object.entries(STORIES))('%s', async (name, { seed, before = {} }) => {
    const github = await startGithub({ repositories: REPOSITORIES })
    const ids = new Map(Object.entries(seed?.(github) ?? {}).map(([id, own]) => [id, String(own)]))
    for (const recorded of readStory(folder, name)) {
      if (NOT_ANSWERED.has(`${recorded.method} ${recorded.path}`)) continue
      await before[recorded.n]?.(github)
      const { status, headers, answer } = await send(github, recorded, ids)
      const said = `${recorded.n} ${recorded.method} ${recorded.path}`
      expect(status, said).toBe(recorded.status)
      const [theirs, ours] = [recorded.answer, answer].map((text) =>
        text === '' ? null : (JSON.parse(text) as unknown),
      )
      expect(differences(theirs, ours), said).toEqual([])
      expect(headers.has('location'), said).toBe('Location' in recorded.headers)
      learn(theirs, ours, ids)
    }
  })

  test('the stories are all that is recorded', () => {
    expect(Object.keys(STORIES)).toEqual(readdirSync(folder).toSorted())
  })
})

test.each<[what: string, ours: unknown, difference: string[]]>([
  ['that lacks a field', { runs: [{ status: 'queued', actor: { login: 'ada' } }] }, ['/runs/*/id is missing']],
  ['with another type', { runs: [{ id: '1', status: 'queued', actor: { login: 'ada' } }] }, ['/runs/*/id is a string']],
  [
    'in another state',
    { runs: [{ id: 2, status: 'waiting', actor: { login: 'ada' } }] },
    ['/runs/*/status is waiting'],
  ],
  ['that lacks an object', { runs: [{ id: 2, status: 'queued', actor: null }] }, ['/runs/*/actor is no object']],
  ['with an empty list', { runs: [] }, ['/runs is empty']],
  ['without a body', null, [' is no object']],
  ['with the same fields and more', { runs: [{ id: 2, status: 'queued', actor: { login: 'bo' }, path: '' }] }, []],
])('an answer %s is compared', (_, ours, found) => {
  expect(differences({ runs: [{ id: 1, status: 'queued', actor: { login: 'ada' } }] }, ours)).toEqual(found)
})

/** Sends a recorded request, with our ids in its address. */
async function send(github: SandboxGithub, { method, path, query, body }: Recorded, ids: ReadonlyMap<string, string>) {
  const own = path.replaceAll(/(?<=\/)\d+(?=\/|$)/g, (id) => ids.get(id) ?? id)
  const response = await fetch(`${github.url}${own}?${query}`, {
    method,
    redirect: 'manual',
    headers: { accept: 'application/vnd.github+json', authorization: `Bearer ${github.address().token}` },
    ...(body === '' ? {} : { body }),
  })
  return { status: response.status, headers: response.headers, answer: await response.text() }
}

/** Later requests name what earlier answers have shown. */
function learn(theirs: unknown, ours: unknown, ids: Map<string, string>): void {
  if (Array.isArray(theirs) && Array.isArray(ours)) for (const [at, one] of theirs.entries()) learn(one, ours[at], ids)
  if (!isRecord(theirs) || !isRecord(ours)) return
  if (typeof theirs['id'] === 'number') ids.set(String(theirs['id']), String(ours['id']))
  for (const [name, value] of Object.entries(theirs)) learn(value, ours[name], ids)
}
