import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../support/app.ts'
import type { Scene } from '../support/world.ts'

const BUILDLINE = fileURLToPath(new URL('../../packages/build-steps/src/buildline.js', import.meta.url))

interface Said {
  code: number
  out: string
  err: string
}

/** Runs `buildline doctor` as an operator does. */
export const buildlineDoctor = (
  { settings, folder }: Pick<Scene, 'settings' | 'folder'>,
  changes: Settings = {},
  ...args: string[]
) =>
  new Promise<Said>((resolve) => {
    const env = { PATH: process.env['PATH'], ...settings, ...changes }
    execFile(process.execPath, [BUILDLINE, 'doctor', ...args], { env, cwd: folder }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    )
  })
