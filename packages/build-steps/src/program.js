// @ts-check
import { createPrint } from './print.js'
import { nameOf } from './answer.js'

// All that is below this folder runs on build machines, installed from a package: plain JavaScript for Node 18 and newer,
// because Node strips no types from what is installed, and nothing but what Node brings and `report/sax.cjs`.

/** What the two programs end with; the numbers are those of sysexits, but for `settings`, a shell's 2. */
export const EXIT = { other: 1, settings: 2, usage: 64, notFound: 66, unavailable: 69, refused: 77 }

/** What ends a program: one line for a person, and the exit code. */
export class Failure extends Error {
  /** @param {number} exitCode @param {string} message */
  constructor(exitCode, message) {
    super(message)
    this.exitCode = exitCode
  }
}

/**
 * Runs `work`; whatever fails in it ends as one line on stderr and an exit code. No line holds the secret.
 *
 * @param {{ name: string, secret: string }} program
 * @param {(print: import('./print.js').Print) => Promise<void>} work
 */
export async function runProgram({ name, secret }, work) {
  const print = createPrint(secret)
  try {
    if (typeof fetch !== 'function') throw new Failure(EXIT.other, 'this needs Node 18 or newer')
    await work(print)
  } catch (error) {
    const failure = error instanceof Failure ? error : new Failure(EXIT.other, `stopped: ${nameOf(error)}`)
    print.error(`${name}: ${failure.message}`)
    process.exitCode = failure.exitCode
  }
}
