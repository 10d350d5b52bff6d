import { expect, test } from 'vitest'
import { DEMO_MAX_MS, startDemo } from '../../../../test/support/demo.ts'

const isWhole = async (source: string): Promise<void> => {
  const demo = startDemo('--once', '--source', source)
  await demo.says('. A burst')
  process.kill(Number(/\bpid (\d+):/.exec(demo.output())![1]), 'SIGKILL')
  expect([await demo.exit, demo.output()]).toEqual([0, expect.stringContaining('lost 0 · doubled 0 · wrong 0')])
  for (const said of [/Passed on attempt 2 \(flaky\) acme\/web/, /Stopped acme\/web/, /CI machine error acme/])
    expect(demo.output()).toMatch(said)
}

// Both at once: a demo mostly waits.
test(
  'the demo with GitHub and with GitLab plays the same story, and what was not delivered while its bot was dead is lost nowhere',
  async () => void (await Promise.all(['github', 'gitlab'].map(isWhole))),
  DEMO_MAX_MS,
)

test('the demo knows no other source', async () => {
  const demo = startDemo('--once', '--source', 'somewhere')
  expect([await demo.exit, demo.output()]).toEqual([1, '--source must be one of ci, github, gitlab\n'])
})
