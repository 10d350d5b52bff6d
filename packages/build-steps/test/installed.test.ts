import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { testFolder } from '../../../test/support/app.ts'
import { FIXTURES } from './report.ts'
import { playing } from './restart.ts'
import { FOLDER, openStub, PROGRAMS, run } from './support.ts'

const FILES = globSync('**/*.{js,cjs}', { cwd: FOLDER })

/** Makes a package with the two programs, like the real one. */
function makePackage(folder: string): string {
  const home = join(folder, 'package')
  cpSync(FOLDER, join(home, 'src'), { recursive: true })
  const bin = Object.fromEntries(Object.entries(PROGRAMS).map(([name, file]) => [name, `src/${file}`]))
  const described = { name: 'buildline-build-side', version: '0.0.1', type: 'module', bin }
  writeFileSync(join(home, 'package.json'), JSON.stringify(described))
  return home
}

/** Packs the package and installs it into an own folder, as from a registry. Returns the folder of its commands. */
async function install(folder: string): Promise<string> {
  const prefix = join(folder, 'project')
  mkdirSync(prefix)
  writeFileSync(join(prefix, 'package.json'), '{"private":true}')
  const flags = ['--offline', '--no-audit', '--no-fund', '--install-links', '--cache', join(folder, 'cache')]
  const { code, stderr } = await run('npm', ['install', ...flags, makePackage(folder)], {
    cwd: prefix,
    env: { HOME: folder },
  })
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('ERR')])
  return join(prefix, 'node_modules/.bin')
}

const PAGE = fileURLToPath(new URL('../../../docs/build-steps.md', import.meta.url))

const shellBlocks = (page: string): string[] => Array.from(page.matchAll(/```sh\n(.*?)```/gs), ([, text = '']) => text)

const settingsFor = (url: string) => ({
  SERVICE_API_KEY: 'k',
  SERVICE_API_PROJECT_ID: '11',
  SERVICE_API_BRANCH: 'main',
  SERVICE_API_URL: url,
})

describe('the two programs', () => {
  it('are executable files', () => {
    for (const file of Object.values(PROGRAMS)) {
      expect(readFileSync(join(FOLDER, file), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
      expect(statSync(join(FOLDER, file)).mode & 0o111).not.toBe(0)
    }
  })

  it('import nothing but Node’s modules and their own files', () => {
    const imports = FILES.flatMap((file) =>
      Array.from(readFileSync(join(FOLDER, file), 'utf8').matchAll(/^import .* from '(.+)'$/gm), ([, name = '']) => ({
        file,
        name,
      })),
    )
    expect(imports.length).toBeGreaterThan(10)
    expect(imports.filter(({ name }) => !/^(?:node:|\.{1,2}\/(?:\w+\/)?[\w-]+\.c?js$)/.test(name))).toEqual([])
    expect(imports.filter(({ file, name }) => !file.includes('/') && name.startsWith('../'))).toEqual([])
  })

  it('run from a copy of their folder, made as docs/build-steps.md says, with nothing but Node', async () => {
    const [repository, path] = [testFolder(), testFolder()]
    symlinkSync(process.execPath, join(path, 'node'))
    const steps = (script: string, env: Record<string, string> = {}) =>
      run('/bin/sh', ['-ec', script], { cwd: repository, env: { PATH: path, ...env } })
    const [copy = '', help = '', names = ''] = shellBlocks(readFileSync(PAGE, 'utf8'))
    const from = copy.replace('packages/build-steps/src', FOLDER).replaceAll('my-repository', repository)
    expect(await run('/bin/sh', ['-ec', from])).toEqual({ code: 0, stdout: '', stderr: '' })
    const helped = await steps(help)
    expect(helped).toMatchObject({ code: 0, stderr: '' })
    for (const word of ['SERVICE_API_KEY', 'BUILDLINE_SECRET']) expect(helped.stdout).toContain(word)

    const stub = await openStub(playing({}))
    expect(await steps(`${names}\nservice_restart_build`, settingsFor(stub.url))).toMatchObject({ code: 0, stderr: '' })
    const bot = await openStub(() => ({ status: 202, json: { status: 'recorded' } }))
    const told = 'buildline notify --strict --status success --project-id 11 --build-id 512'
    const env = { BUILDLINE_URL: bot.url, BUILDLINE_SECRET: 'canary' }
    expect(await steps(`${names}\n${told}`, env)).toMatchObject({ code: 0, stderr: '' })
    writeFileSync(join(repository, 'report.xml'), '<testsuite><testcase name="a"/></testsuite>')
    const reported = "buildline report --strict --junit '*.xml' --project-id 11 --build-id 512"
    expect(await steps(`${names}\n${reported}`, env)).toMatchObject({ code: 0, stderr: '' })
    expect([stub.requests.length, bot.requests.length]).toEqual([2, 2])
  })

  it('run where npm has installed them, outside of this repository', async () => {
    const bin = await install(testFolder())
    expect(realpathSync(join(bin, 'buildline'))).toContain('node_modules/buildline-build-side/')
    expect(await run(join(bin, 'service_restart_build'), ['--help'])).toMatchObject({ code: 0, stderr: '' })
    const stub = await openStub(playing({}))
    const env = settingsFor(stub.url)
    expect((await run(join(bin, 'service_restart_build'), [], { env })).code).toBe(0)
    expect(await run(join(bin, 'buildline'), ['notify', '--help'])).toMatchObject({ code: 0, stderr: '' })
  })
})

/** The older Nodes on this machine's PATH that the programs support. Build machines may have one of them. */
const OLDER = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .filter((path) => existsSync(path))
  .filter((path, at, all) => all.findIndex((other) => realpathSync(other) === realpathSync(path)) === at)
  .map((path) => ({ path, major: Number(execFileSync(path, ['-p', 'process.versions.node.split(".")[0]'])) }))
  .filter(({ major }) => major >= 18 && major < Number(process.versions.node.split('.')[0]))

const titleOf = (has: boolean) => (has ? 'an older Node' : 'an older Node: NOT TESTED, this machine has none')

describe.skipIf(OLDER.length === 0)(titleOf(OLDER.length > 0), () => {
  it.each(OLDER)('of version $major reads every file', async ({ path }) => {
    const ended = await Promise.all(FILES.map((file) => run(path, ['--check', join(FOLDER, file)])))
    expect(ended).toEqual(FILES.map(() => ({ code: 0, stdout: '', stderr: '' })))
  })

  it.each(OLDER)('of version $major restarts a build whose id is too large for a double', async ({ path }) => {
    const ids = [2n ** 60n + 1n, 2n ** 60n + 2n]
    const text = `{"builds":[${ids.map((id) => `{"id":${id},"message":"id ${id}"}`).join()}]}`
    const stub = await openStub(({ method }) => (method === 'GET' ? { text } : { text: `{"id":${ids[1]}}` }))
    const env = settingsFor(stub.url)
    const { code, stdout, stderr } = await run(path, [join(FOLDER, PROGRAMS.service_restart_build)], { env })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`CI accepted: build #${ids[1]}, the same build again`)
    expect(stub.requests[1]!.path).toBe(`/api/v1/builds/${ids[1]}/restart.json`)
  })

  it.each(OLDER)('of version $major reads and reports every fixture, and masks secrets', async ({ path }) => {
    const bot = await openStub(() => ({ status: 202, json: { status: 'recorded' } }))
    const args = ['report', '--junit', '**/report.xml', '--project-id', '11', '--build-id', '512', '--strict']
    const env = { BUILDLINE_URL: bot.url, BUILDLINE_SECRET: 'canary', A_TOKEN: 'LoginTest' }
    const { code, stderr } = await run(path, [join(FOLDER, PROGRAMS.buildline), ...args], { cwd: FIXTURES, env })
    expect([code, stderr]).toEqual([0, ''])
    expect(bot.requests[0]!.body).toMatch(/"tests":49,"failed":22,.*"\*\*\* › redirects"/)
  })

  it.each(OLDER)('of version $major notifies the bot, and says why it could not', async ({ path }) => {
    const args = ['notify', '--status', 'success', '--project-id', '11', '--build-id', '512', '--strict']
    const told = async (isMute: boolean) => {
      const stub = await openStub(() => (isMute ? () => undefined : { status: 202, json: { status: 'recorded' } }))
      const env = { BUILDLINE_URL: stub.url, BUILDLINE_SECRET: 'canary' }
      const deadline = ['--deadline', isMute ? '1' : '10']
      return run(path, [join(FOLDER, PROGRAMS.buildline), ...args, ...deadline], { env })
    }
    expect(await told(false)).toMatchObject({ code: 0, stderr: '' })
    expect(await told(true)).toMatchObject({ code: 69, stderr: expect.stringContaining('no answer in time') })
  })
})
