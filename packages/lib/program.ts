import { parseArgs, type ParseArgsConfig } from 'node:util'

/** The flags of the command line; ends the program, in words, at one that it does not know. */
export function readFlags<Options extends NonNullable<ParseArgsConfig['options']>>(options: Options) {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    return giveUp(error instanceof Error ? error.message : 'the command line cannot be read')
  }
}

/** The number behind `--port`; ends the program, in words, where it is none. */
export function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  return port <= 65_535 ? port : giveUp('--port is no port: a number from 0 to 65535')
}

/** Opens a port; ends the program, in words and with the next step, when it cannot be had. */
export async function openPort(port: number, open: (port: number) => Promise<unknown>): Promise<void> {
  try {
    await open(port)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'EADDRINUSE')
      giveUp(`It cannot start: port ${port} is taken by another program. Free it, or choose another with --port`)
    if (code === 'EACCES') giveUp(`It cannot start: this user may not open port ${port}. Choose another with --port`)
    throw error
  }
}

/** One line, and no stack: what is wrong is for the person at the terminal to mend. */
export function giveUp(why: string): never {
  process.stderr.write(`${why}\n`)
  process.exit(1)
}
