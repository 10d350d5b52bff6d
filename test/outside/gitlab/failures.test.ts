import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { gitlabProjectId } from '../../../src/domain/ids.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createGitlabClient } from '../../../src/sources/gitlab/client.ts'
import { readGitlabFailures } from '../../../src/sources/gitlab/failures.ts'
import { createTransport } from '../../../src/sources/http/transport.ts'
import { buildId } from '../../support/build-events.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import { describeOutside } from '../../support/outside.ts'

describeOutside('gitlab', 'what others have recorded of GitLab’s test reports', (folder) => {
  const text = readFileSync(join(folder, 'get_pipeline_testreport.json'), 'utf8')
  const recorded = JSON.parse(text) as Record<string, number>

  test('is understood: each test that failed, whatever form its output has', async () => {
    const total = { failed: recorded['failed_count'], error: recorded['error_count'] }
    const stub = await startHttpStub(({ path }) => {
      if (path.endsWith('/test_report')) return { text, headers: { 'content-type': 'application/json' } }
      return path.endsWith('/test_report_summary') ? { json: { total } } : { json: [] }
    })
    const transport = createTransport({ clock: systemClock })
    onTestFinished(async () => (await transport.close(), stub[Symbol.asyncDispose]()))
    const client = createGitlabClient({ url: stub.url, token: 'glpat-recorded', transport })
    const [suite, ...others] = await readGitlabFailures(client, '71', {
      projectId: gitlabProjectId('71'),
      project: 'acme/web',
      stream: 'main',
      buildId: buildId('512'),
      attempt: 1,
      lastEndAt: null,
      commit: null,
      logs: true,
    })
    expect(others).toEqual([])
    expect(suite).toMatchObject({ part: 'Failing', tests: 8, failed: 4 })
    expect(suite!.failures.slice(0, 3).map(({ test: name, path, message }) => [name, path, message])).toEqual([
      ['MyClassOne › Error testcase 1', '/path/file.ext', 'Failed test'],
      ['MyClass › Error testcase 2', null, 'Failed test'],
      ['MyClass › Error testcase 3', null, 'Failed test a'],
    ])
  })
})
