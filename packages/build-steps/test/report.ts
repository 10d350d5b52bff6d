import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testFolder } from '../../../test/support/app.ts'
import type { StubAnswer } from '../../../test/support/http-stub.ts'
import { openStub, runProgram } from './support.ts'

type Environment = Readonly<Record<string, string | undefined>>

interface Sent {
  build: Record<string, unknown>
  report: {
    shard: string | null
    tests: number
    failed: number
    skipped: number
    flaky: number
    duration_ms: number | null
    failures: { name: string; message: string }[]
    flaky_tests: string[]
    log: string[]
  }
}

export const SECRET = 'the-webhook-secret'
export const RECORDED: StubAnswer = { status: 202, json: { status: 'recorded' } }
export const FIXTURES = fileURLToPath(new URL('fixtures/', import.meta.url))

/** A folder with these files. It is removed after the test. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = testFolder()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

export interface Play {
  args?: readonly string[]
  env?: Environment
  /** what the bot answers, in turn; the last one is repeated */
  answers?: readonly StubAnswer[]
  run?: typeof runProgram
}

/** Runs `buildline report` in this folder, against a stub of the bot. */
export async function report(
  cwd: string,
  { args = ['--junit', '**/*.xml'], env = {}, answers = [RECORDED], run = runProgram }: Play = {},
) {
  const bot = await openStub((_, at) => answers[Math.min(at, answers.length - 1)]!)
  const build = {
    BUILDLINE_URL: bot.url,
    BUILDLINE_SECRET: SECRET,
    BUILDLINE_PROJECT_ID: '11',
    BUILDLINE_BUILD_ID: '512',
  }
  const ended = await run('buildline', ['report', ...args], { cwd, env: { ...build, ...env } })
  const sent = bot.requests.map(({ body }) => JSON.parse(body) as Sent)
  return { ...ended, requests: bot.requests, tries: sent.length, sent: sent[0] }
}

/** Runs `buildline report` on one JUnit report with these test cases. */
export const reportOf = async (cases: string, play?: Play) =>
  report(folderWith({ 'report.xml': `<testsuites><testsuite name="Shop">${cases}</testsuite></testsuites>` }), play)

export const FAILED = '<testcase classname="LoginTest" name="redirects"><failure message="got 200"/></testcase>'
