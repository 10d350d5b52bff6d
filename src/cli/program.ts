import { parseArgs, type ParseArgsConfig } from 'node:util'
import { forTerminal } from '../lib/escape.ts'
import { listenFault } from '../server/listen-fault.ts'

const PORT_MAX = 65_535

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
  return port <= PORT_MAX ? port : giveUp(`--port is no port: a number from 0 to ${PORT_MAX}`)
}

/** Opens a port; ends the program, in words and with the next step, when it cannot be had. */
export async function openPort(port: number, open: (port: number) => Promise<unknown>): Promise<void> {
  try {
    await open(port)
  } catch (error) {
    const fault = listenFault(error, port)
    if (fault === null) throw error
    giveUp(`It cannot start: ${fault}. Free it, or choose another with --port`)
  }
}

/** One line, and no stack: what is wrong is for the person at the terminal to mend. */
export function giveUp(why: string): never {
  process.stderr.write(`${forTerminal(why)}\n`)
  process.exit(1)
}
