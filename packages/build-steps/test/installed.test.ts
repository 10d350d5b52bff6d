import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { openFolder, testFolder } from '../../../test/support/app.ts'
import { FIXTURES } from './report.ts'
import { playing } from './restart.ts'
import { FOLDER, openStub, PROGRAMS, run } from './support.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const PAGE = readFileSync(join(ROOT, 'docs/build-steps.md'), 'utf8')

const shellBlocks = (page: string): string[] => Array.from(page.matchAll(/```sh\n(.*?)```/gs), ([, text = '']) => text)

/** The archive that `npm pack` makes, as docs/build-steps.md says, and its files. */
let archive: string
let packed: string

beforeAll(() => {
  const { folder, remove } = openFolder()
  const [command] = /npm pack --workspace \S+(?=`)/.exec(PAGE)!
  execFileSync('/bin/sh', ['-c', `${command} --silent --pack-destination ${folder}`], { cwd: ROOT })
  archive = join(folder, /buildline-build-steps-[\d.]+\.tgz/.exec(PAGE)![0])
  execFileSync('tar', ['xzf', archive, '-C', folder])
  packed = join(folder, 'package')
  return remove
})

const settingsFor = (url: string) => ({
  SERVICE_API_KEY: 'k',
  SERVICE_API_PROJECT_ID: '11',
  SERVICE_API_BRANCH: 'main',
  SERVICE_API_URL: url,
})

/** A build step that calls both programs, all commands of a build. */
const STEP = `
service_restart_build
buildline notify --strict --status success --project-id 11 --build-id 512
buildline report --strict --junit '*.xml' --project-id 11 --build-id 512
`

/** Runs the step in a folder with a report, with nothing else on the path than `path` and Node. */
async function runStep(script: string, path: string, folder = testFolder()) {
  const [ci, bot] = [await openStub(playing({})), await openStub(() => ({ status: 202, json: { status: 'recorded' } }))]
  writeFileSync(join(folder, 'report.xml'), '<testsuite><testcase name="a"/></testsuite>')
  const env = { PATH: path, ...settingsFor(ci.url), BUILDLINE_URL: bot.url, BUILDLINE_SECRET: 'canary' }
  const { code, stderr } = await run('/bin/sh', ['-ec', script], { cwd: folder, env })
  return { code, stderr, calls: [ci.requests.length, bot.requests.length] }
}

/** A folder with only a `node`. */
function pathWithNode(): string {
  const folder = testFolder()
  symlinkSync(process.execPath, join(folder, 'node'))
  return folder
}

describe('the two programs', () => {
  it('are executable files, in the repository and in the package', () => {
    for (const file of Object.values(PROGRAMS).flatMap((name) => [join(FOLDER, name), join(packed, 'dist', name)])) {
      expect(readFileSync(file, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
      expect(statSync(file).mode & 0o111).not.toBe(0)
    }
  })

  it('are packed as one file each, which imports nothing but Node’s modules', () => {
    expect(globSync('**/*.*', { cwd: packed }).sort()).toEqual([
      'README.md',
      'dist/buildline.js',
      'dist/service-restart-build.js',
      'package.json',
    ])
    expect(JSON.parse(readFileSync(join(packed, 'package.json'), 'utf8'))).not.toHaveProperty('dependencies')
    for (const file of Object.values(PROGRAMS)) {
      const imports = readFileSync(join(packed, 'dist', file), 'utf8').matchAll(/^import .* from ["'](.+)["'];?$/gm)
      const names = Array.from(imports, ([, name]) => name)
      expect(names.length).toBeGreaterThan(0)
      expect(names.filter((name) => !name!.startsWith('node:'))).toEqual([])
    }
  })

  it('name the licence of the parser that they contain', () => {
    expect(readFileSync(join(packed, 'dist/buildline.js'), 'utf8')).toContain('blueoakcouncil.org/license/1.0.0')
  })

  it('run from one file each, with nothing but Node', async () => {
    const path = pathWithNode()
    const folder = testFolder()
    for (const [name, file] of Object.entries(PROGRAMS)) {
      expect(PAGE).toContain(`\`package/dist/${file}\``)
      cpSync(join(packed, 'dist', file), join(folder, `${name}.mjs`))
    }
    const named = Object.keys(PROGRAMS).map((name) => `${name}() { node ${name}.mjs "$@"; }`)
    const ended = await runStep(`${named.join('\n')}\n${STEP}`, path, folder)
    expect(ended).toEqual({ code: 0, stderr: '', calls: [2, 2] })
  })

  it('are installed with the line of docs/build-steps.md, without a registry', async () => {
    const [build, home] = [testFolder(), testFolder()]
    cpSync(archive, join(build, archive.split('/').at(-1)!))
    const [install = '', help = ''] = shellBlocks(PAGE)
    const offline = { npm_config_offline: 'true', npm_config_prefix: home, npm_config_cache: join(home, 'cache') }
    const env = { HOME: home, ...offline }
    const installed = await run('/bin/sh', ['-ec', install], { cwd: build, env })
    expect([installed.code, installed.stderr]).toEqual([0, expect.not.stringContaining('ERR')])
    expect(realpathSync(join(home, 'bin/buildline'))).toContain('node_modules/buildline-build-steps/dist/')

    const path = [join(home, 'bin'), pathWithNode(), '/usr/bin', '/bin'].join(delimiter)
    const helped = await run('/bin/sh', ['-ec', help], { cwd: build, env: { PATH: path } })
    expect(helped).toMatchObject({ code: 0, stderr: '' })
    for (const word of ['SERVICE_API_KEY', 'BUILDLINE_SECRET', '--junit']) expect(helped.stdout).toContain(word)
    expect(await runStep(STEP, path)).toEqual({ code: 0, stderr: '', calls: [2, 2] })
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
  it.each(OLDER)('of version $major restarts a build whose id is too large for a double', async ({ path }) => {
    const ids = [2n ** 60n + 1n, 2n ** 60n + 2n]
    const text = `{"builds":[${ids.map((id) => `{"id":${id},"message":"id ${id}"}`).join()}]}`
    const stub = await openStub(({ method }) => (method === 'GET' ? { text } : { text: `{"id":${ids[1]}}` }))
    const env = settingsFor(stub.url)
    const { code, stdout, stderr } = await run(path, [join(packed, 'dist', PROGRAMS.service_restart_build)], { env })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`CI accepted: build #${ids[1]}, the same build again`)
    expect(stub.requests[1]!.path).toBe(`/api/v1/builds/${ids[1]}/restart.json`)
  })

  it.each(OLDER)('of version $major reads and reports every fixture, and masks secrets', async ({ path }) => {
    const bot = await openStub(() => ({ status: 202, json: { status: 'recorded' } }))
    const args = ['report', '--junit', '**/report.xml', '--project-id', '11', '--build-id', '512', '--strict']
    const env = { BUILDLINE_URL: bot.url, BUILDLINE_SECRET: 'canary', A_TOKEN: 'LoginTest' }
    const { code, stderr } = await run(path, [join(packed, 'dist', PROGRAMS.buildline), ...args], {
      cwd: FIXTURES,
      env,
    })
    expect([code, stderr]).toEqual([0, ''])
    expect(bot.requests[0]!.body).toMatch(/"tests":49,"failed":22,.*"\*\*\* › redirects"/)
  })

  it.each(OLDER)('of version $major notifies the bot, and says why it could not', async ({ path }) => {
    const args = ['notify', '--status', 'success', '--project-id', '11', '--build-id', '512', '--strict']
    const told = async (isMute: boolean) => {
      const stub = await openStub(() => (isMute ? () => undefined : { status: 202, json: { status: 'recorded' } }))
      const env = { BUILDLINE_URL: stub.url, BUILDLINE_SECRET: 'canary' }
      const deadline = ['--deadline', isMute ? '1' : '10']
      return run(path, [join(packed, 'dist', PROGRAMS.buildline), ...args, ...deadline], { env })
    }
    expect(await told(false)).toMatchObject({ code: 0, stderr: '' })
    expect(await told(true)).toMatchObject({ code: 69, stderr: expect.stringContaining('no answer in time') })
  })
})
