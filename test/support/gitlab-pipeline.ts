import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { createGitlabClient } from '../../src/sources/gitlab/client.ts'
import { readGitlabFailures } from '../../src/sources/gitlab/failures.ts'
import { createTransport } from '../../src/sources/http/transport.ts'
import { buildId } from './build-events.ts'
import { startHttpStub, type StubAnswer } from './http-stub.ts'

/** What the bot reads as failed of pipeline 512 in project 71 of a GitLab that answers so, and the paths that it requested. */
export async function readFailures(answerTo: (path: string) => StubAnswer, { logs = true } = {}) {
  const stub = await startHttpStub(({ path }) => answerTo(path))
  const transport = createTransport({ clock: systemClock })
  onTestFinished(async () => (await transport.close(), stub[Symbol.asyncDispose]()))
  const client = createGitlabClient({ url: stub.url, token: 'glpat-outside', transport })
  const reports = await readGitlabFailures(client, '71', buildId('512'), logs)
  return { reports, requested: stub.requests.map(({ path }) => path.replace(/.*\/71\//, '')) }
}
