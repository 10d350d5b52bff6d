import { runProgram } from '../../packages/build-steps/test/support.ts'
import type { Settings } from '../support/app.ts'
import type { Scene } from '../support/world.ts'

/** Runs `buildline doctor` as an operator does, in this process. */
export async function buildlineDoctor(
  { settings, folder }: Pick<Scene, 'settings' | 'folder'>,
  changes: Settings = {},
  ...args: string[]
) {
  const surroundings = { env: { ...settings, ...changes }, cwd: folder }
  const { code, stdout: out, stderr: err } = await runProgram('buildline', ['doctor', ...args], surroundings)
  return { code, out, err }
}
