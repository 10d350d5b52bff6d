import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../../test/house/imports.ts'
import { FOLDER, run, runProgram, startProgram } from './support.ts'

describe('buildline', () => {
  it('prints the version of the package with --version', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
    expect(await runProgram('buildline', ['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('lists its commands with --help', async () => {
    const { code, stdout } = await runProgram('buildline', ['--help'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('buildline notify')])
  })

  it.each(['notfy', 'Notify', 'notification'])('suggests the nearest command to %s, and stops', async (word) => {
    const { code, stdout, stderr } = await runProgram('buildline', [word, '--status', 'success'])
    expect([code, stdout]).toEqual([64, ''])
    expect(stderr).toBe(`buildline: unknown command "${word}"; the nearest is "notify". See buildline --help\n`)
  })

  it('fails if no command is given', async () => {
    expect(await runProgram('buildline', [])).toMatchObject({ code: 64, stdout: '' })
  })

  it('does not say that there is no connection if it has an error of its own', async () => {
    const fault = ['--import', 'data:text/javascript,String.prototype.toUpperCase=()=>{throw new Error("canary")}']
    const ended = await startProgram('buildline', ['notify', '--status', 'success'], {}, fault)
    expect(ended).toEqual({ code: 1, stdout: '', stderr: 'buildline: stopped: an internal error\n' })
  })

  it('prints no error if nobody reads what it prints', async () => {
    const command = `{ "${process.execPath}" "${FOLDER}buildline.js" --help; echo "code $?" >&2; } | true`
    expect(await run('sh', ['-c', command])).toEqual({ code: 0, stdout: '', stderr: 'code 0\n' })
  })

  it('does not repeat a word that may be a secret', async () => {
    const { code, stderr } = await runProgram('buildline', ['canary/1234'])
    expect(code).toBe(64)
    expect(stderr).not.toContain('canary')
  })

  it.each([
    ['buildline', ['notify', '--status', 'success', '--project-id', '11', '--build-id', '512', '--strict']],
    ['service_restart_build', []],
  ] as const)('says that %s needs a newer Node if there is no fetch', async (program, args) => {
    const env = { BUILDLINE_URL: 'http://127.0.0.1:1', BUILDLINE_SECRET: 'canary' }
    const withoutFetch = ['--import', 'data:text/javascript,delete globalThis.fetch']
    const { code, stderr } = await startProgram(program, args, { env }, withoutFetch)
    expect([code, stderr]).toEqual([1, `${program}: this needs Node 18 or newer\n`])
  })
})
