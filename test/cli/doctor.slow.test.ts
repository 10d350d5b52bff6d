import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { testFolder, until } from '../support/app.ts'
import { run } from '../../packages/build-steps/test/support.ts'

/** Runs one of the command line programs as npm does. */
const start = (program: string, ...args: string[]) =>
  run(process.execPath, [fileURLToPath(new URL(`../../${program}.ts`, import.meta.url)), ...args], {
    cwd: testFolder(),
    env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
  })

async function takenPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await until('the port is taken', () => server.listening)
  const address = server.address()
  return String(typeof address === 'object' && address ? address.port : 0)
}

const PROGRAMS = [
  'packages/demo/src/demo',
  'packages/demo/src/sandbox-slack',
  'packages/sandbox-ci/src/cli',
  'packages/sandbox-slack/src/cli',
]

describe.each(PROGRAMS)('%s', (program) => {
  it('says in one line that its port is taken, and what to do next', async () => {
    const port = await takenPort()
    expect(await start(program, '--port', port)).toEqual({
      code: 1,
      stdout: '',
      stderr: `It cannot start: port ${port} is taken by another program. Free it, or choose another with --port\n`,
    })
  })
})

// Each program reads its port and its flags by the same functions.
describe('packages/sandbox-ci/src/cli', () => {
  it.each(['http', '65536'])('refuses the port %s', async (port) => {
    const { code, stderr } = await start('packages/sandbox-ci/src/cli', `--port=${port}`)
    expect([code, stderr]).toEqual([1, '--port must be a number from 0 to 65535\n'])
  })

  it('names an unknown flag in one line', async () => {
    const { code, stderr } = await start('packages/sandbox-ci/src/cli', '--prot', '4100')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^Unknown option '--prot'.*\n$/)
  })

  it.each([
    ['{"listForm":', '--switches is not JSON\n'],
    ['{"listForm":"tree"}', expect.stringMatching(/^--switches: .*listForm.*\n$/)],
  ])('refuses invalid switches: %s', async (switches, words) => {
    expect(await start('packages/sandbox-ci/src/cli', '--switches', switches)).toEqual({
      code: 1,
      stdout: '',
      stderr: words,
    })
  })
})
