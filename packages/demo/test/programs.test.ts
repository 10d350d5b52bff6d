import { spawn } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { testFolder, until } from '../../../test/support/app.ts'
import { SETTINGS } from '../src/docs/settings.ts'

const PACKAGES = fileURLToPath(new URL('../../', import.meta.url))

/** Starts a program of a package with only PATH and this environment. It ends with the test. */
function start(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const program = spawn(process.execPath, [join(PACKAGES, file), ...args], {
    env: { PATH, NODE_COMPILE_CACHE, ...env },
  })
  let output = ''
  for (const stream of [program.stdout, program.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const exit = new Promise<number | null>((resolve) => program.once('close', resolve))
  onTestFinished(async () => {
    program.kill('SIGTERM')
    await exit
  })
  return { output: () => output, exit }
}

it.each([
  ['the demo', 'demo/src/demo.ts', ['--once']],
  ['the gallery', 'demo/src/gallery.ts', []],
])('%s empties no folder with files of others', async (_, file, flags) => {
  const folder = testFolder()
  writeFileSync(join(folder, 'notes.txt'), 'keep me')
  const { output, exit } = start(file, ['--folder', folder, ...flags])
  expect([await exit, output()]).toEqual([1, expect.stringContaining('holds other files')])
  expect(readdirSync(folder)).toEqual(['notes.txt'])
})

it('two demos that play once have a database each', async () => {
  const folder = testFolder()
  const demos = [1, 2].map(() => start('demo/src/demo.ts', ['--once'], { TMPDIR: folder }))
  for (const { output } of demos) await until('it plays', () => output().includes('Playing for about a minute'))
  expect(readdirSync(folder).filter((name) => name.startsWith('buildline-demo-'))).toHaveLength(2)
})

it.each(['ci', 'github', 'gitlab'])(
  'the sandbox %s prints its addresses and secrets as the bot reads them',
  async (name) => {
    const { output } = start(`sandbox-${name}/src/cli.ts`, ['--port', '0'])
    await until('it is open', () => output().split('\n').length > 3)
    const printed = [...output().matchAll(/"([A-Z][A-Z_]+)":/g)].map(([, key]) => key!)
    const known = SETTINGS.flatMap(({ names }) => names)
    expect(printed.length).toBeGreaterThan(3)
    expect(printed.filter((key) => !known.includes(key))).toEqual([])
  },
)
