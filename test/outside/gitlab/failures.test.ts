import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readFailures } from '../../support/gitlab-pipeline.ts'
import { describeOutside } from '../../support/outside.ts'

describeOutside('gitlab', 'what others have recorded of GitLab’s test reports', (folder) => {
  const text = readFileSync(join(folder, 'get_pipeline_testreport.json'), 'utf8')
  const recorded = JSON.parse(text) as Record<string, number>

  test('is understood: each test that failed, whatever form its output has', async () => {
    const total = { failed: recorded['failed_count'], error: recorded['error_count'] }
    const { reports } = await readFailures((path) => {
      if (path.endsWith('/test_report')) return { text, headers: { 'content-type': 'application/json' } }
      return path.endsWith('/test_report_summary') ? { json: { total } } : { json: [] }
    })
    const [suite, ...others] = reports
    expect(others).toEqual([])
    expect(suite).toMatchObject({ part: 'Failing', tests: 8, failed: 4 })
    expect(suite!.failures.slice(0, 3).map(({ test: name, path, message }) => [name, path, message])).toEqual([
      ['MyClassOne › Error testcase 1', '/path/file.ext', 'Failed test'],
      ['MyClass › Error testcase 2', null, 'Failed test'],
      ['MyClass › Error testcase 3', null, 'Failed test a'],
    ])
  })
})
