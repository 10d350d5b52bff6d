import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { parseArgs, type ParseArgsConfig } from 'node:util'

/** Reads the flags of the command line. Ends the program with a message if they cannot be parsed. */
export function readFlags<Options extends NonNullable<ParseArgsConfig['options']>>(options: Options) {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    const known = Object.keys(options).map((name) => `--${name}`)
    return giveUp(`${error instanceof Error ? error.message : 'Not understood'}. The flags are ${known.join(', ')}`)
  }
}

/** Reads the value of `--port`. Ends the program with a message if it is not a port number. */
export function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  return port <= 65_535 ? port : giveUp('--port must be a number from 0 to 65535')
}

/** Opens a port. If it is taken or not permitted, ends the program with a message that says what to do. */
export async function openPort(port: number, open: (port: number) => Promise<unknown>): Promise<void> {
  try {
    await open(port)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'EADDRINUSE')
      giveUp(`It cannot start: port ${port} is taken by another program. Free it, or choose another with --port`)
    if (code === 'EACCES')
      giveUp(`It cannot start: this user is not allowed to open port ${port}. Choose another with --port`)
    throw error
  }
}

/**
 * Empties the folder of `--folder`, or creates it. Ends the program with a message if the folder holds files of others.
 * @param ownFile is in each folder that was filled before
 */
export function emptyFolder(folder: string, ownFile: string): void {
  const names = existsSync(folder) ? readdirSync(folder) : []
  if (names.length > 0 && !names.includes(ownFile))
    giveUp(`--folder would be emptied, and ${folder} holds other files. Choose an empty folder, or a new one`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
}

/** Ends the program with one line and no stack trace, for mistakes that the user can fix. */
export function giveUp(why: string): never {
  process.stderr.write(`${why}\n`)
  process.exit(1)
}
