import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testFolder, until } from '../../../test/support/app.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Packs a workspace as npm would publish it, and unpacks it in an empty folder, beside its dependencies. */
function unpacked(name: string): string {
  const folder = testFolder()
  execFileSync('npm', ['pack', '--silent', '--workspace', `packages/${name}`, '--pack-destination', folder], {
    cwd: ROOT,
  })
  execFileSync('tar', [
    'xzf',
    join(
      folder,
      readdirSync(folder).find((file) => file.endsWith('.tgz'))!,
    ),
    '-C',
    folder,
  ])
  // As npm would: node_modules/<package>, with its dependencies beside it. Node strips no types there.
  const modules = join(folder, 'app', 'node_modules')
  mkdirSync(modules, { recursive: true })
  execFileSync('mv', [join(folder, 'package'), join(modules, name)])
  for (const one of readdirSync(join(ROOT, 'node_modules')))
    if (!one.startsWith('.') && !existsSync(join(modules, one)))
      symlinkSync(join(ROOT, 'node_modules', one), join(modules, one))
  return join(folder, 'app')
}

function start(file: string, cwd: string, ...args: string[]): { output: () => string } {
  const child = spawn(process.execPath, [file, ...args], { cwd })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
  onTestFinished(() => void child.kill('SIGKILL'))
  return { output: () => output }
}

describe('the packed sandbox Slack', () => {
  test('is plain JavaScript, starts in an empty folder, shows its page, and the Bolt app of its README talks to it', async () => {
    const app = unpacked('sandbox-slack')
    const packed = join(app, 'node_modules', 'sandbox-slack')
    expect(readdirSync(packed, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))).toEqual(
      [],
    )
    const sandbox = start(join(packed, 'bin', 'sandbox-slack.js'), app, '--port', '0')
    const url = await until('it is open', () => /open: (http:\S+)\//.exec(sandbox.output())?.[1])
    expect(await (await fetch(`${url}/`)).text()).toContain('/page/main-')
    const readme = readFileSync(join(packed, 'README.md'), 'utf8')
    const [, code = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? []
    writeFileSync(join(app, 'app.mjs'), code.replace('http://127.0.0.1:4100', url).replace('start(3000)', 'start(0)'))
    const bolt = start('app.mjs', app)
    const said = async () => (await (await fetch(`${url}/sandbox/state`)).text()).includes('Here I am')
    await until('the app has said so', async () => (await said()) || (bolt.output().includes('Error') && bolt.output()))
    expect(bolt.output()).not.toContain('Error')
    expect(await said()).toBe(true)
  })
})

describe.each(['sandbox-ci', 'sandbox-github', 'sandbox-gitlab'])('the packed %s', (name) => {
  test('is plain JavaScript, starts in an empty folder, and answers', async () => {
    const app = unpacked(name)
    const packed = join(app, 'node_modules', name)
    expect(readdirSync(packed, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))).toEqual(
      [],
    )
    const sandbox = start(join(packed, 'bin', `${name}.js`), app, '--port', '0')
    const url = await until('it is open', () => /"url":"(http:[^"]+)"/.exec(sandbox.output())?.[1])
    expect((await fetch(`${url}/sandbox/state`)).status).toBe(200)
  })
})
