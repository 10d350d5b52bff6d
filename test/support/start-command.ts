import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../', import.meta.url)

/** The arguments of Node in `npm start`: its options, and the file as an absolute path. */
export const START = startCommand()

function startCommand(): { options: string[]; file: string } {
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { scripts: { start: string } }
  const [exec, node, ...options] = scripts.start.split(' ')
  const file = options.pop()
  if (exec !== 'exec' || node !== 'node' || !file) throw new Error(`npm start is of another form: ${scripts.start}`)
  return { options, file: fileURLToPath(new URL(file, ROOT)) }
}
