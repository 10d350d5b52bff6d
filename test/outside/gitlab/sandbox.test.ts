import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  pipelineOf,
  pushed,
  quickClock,
  startGitlab,
  startReceiver,
} from '../../../packages/sandbox-gitlab/test/support.ts'
import { describeOutside } from '../../support/outside.ts'
import { changed, missingFields, pathsIn } from '../fields.ts'

/** Fields of the recordings that the sandbox leaves out, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'test_suites[].test_cases[].attachment_url is missing': 'its jobs keep no screenshots',
}

const isKept = (difference: string): boolean => !(difference in LEFT_OUT)

describeOutside('gitlab', 'the sandbox GitLab, beside what others have recorded of GitLab', (folder) => {
  const recorded = (name: string): unknown => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))

  test('sends the recorded fields of a pipeline, with their types', async () => {
    expect(missingFields(recorded('pipeline'), await sentBody()).filter(isKept)).toEqual([])
  })

  test('answers with the recorded fields of a test report, with their types', async () => {
    const missing = missingFields(recorded('get_pipeline_testreport'), await shownReport())
    expect(missing.filter(isKept)).toEqual([])
    expect(missing.filter((one) => !isKept(one))).toEqual(Object.keys(LEFT_OUT))
  })

  test('is not what was recorded as soon as one field is missing, or has another type', async () => {
    for (const [name, own] of [
      ['pipeline', await sentBody()],
      ['get_pipeline_testreport', await shownReport()],
    ] as const) {
      const theirs = recorded(name)
      const known = new Set(missingFields(theirs, own))
      const isNoticed = (other: unknown) => missingFields(theirs, other).some((one) => !known.has(one))
      const paths = pathsIn(theirs).filter((path) => pathsIn(own).includes(path) && !path.endsWith('[]'))
      expect(paths.length).toBeGreaterThan(20)
      expect(paths.filter((path) => !isNoticed(changed(own, path)))).toEqual([])
      // A field that is null in the recording says nothing about its type.
      const typed = paths.filter((path) => missingFields(theirs, changed(theirs, path, null)).length > 0)
      expect(typed.length).toBeGreaterThan(20)
      expect(typed.filter((path) => !isNoticed(changed(own, path, null)))).toEqual([])
    }
  })
})

/** The body about a merge request's pipeline that another pipeline has started, with variables and a manual job. */
async function sentBody(): Promise<unknown> {
  const receiver = await startReceiver()
  const clock = quickClock()
  const gitlab = await startGitlab({ webhookUrl: receiver.url, clock })
  const parent = pushed(gitlab, { outcome: 'none' })
  const { id } = pushed(gitlab, {
    parent: parent.id,
    mergeRequest: { iid: 3 },
    outcome: 'none',
    queuedMs: 12_000,
    jobs: [{ name: 'unit' }, { name: 'deploy', manual: true, allowFailure: true }, { name: 'lint', stage: 'last' }],
    variables: { REGION: 'us-west-1' },
  })
  await expect.poll(() => pipelineOf(gitlab, id).status).toBe('running')
  clock.pass(63_000)
  gitlab.finish(id, 'failed', ['unit'])
  await gitlab.settle()
  return JSON.parse(receiver.received.at(-1)!.body)
}

async function shownReport(): Promise<unknown> {
  const gitlab = await startGitlab()
  const failed = {
    status: 'error' as const,
    seconds: 1.5,
    file: '/path/file.ext',
    stackTrace: 'at Login',
    recentFailures: 3,
  }
  const outputs = ['Failed test', { message: 'Failed test', type: 'Error' }, ['Failed a', 'Failed b']]
  const { id } = pushed(gitlab, {
    outcome: 'none',
    tests: outputs.map((output, at) => ({ ...failed, name: `redirects ${at}`, output })),
  })
  const { url, token } = gitlab.address()
  const address = `${url}/api/v4/projects/acme%2Fweb/pipelines/${id}/test_report`
  return (await fetch(address, { headers: { 'private-token': token } })).json()
}
