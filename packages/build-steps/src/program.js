// @ts-check
import { createPrint } from './print.js'
import { nameOf } from './answer.js'

// Everything in this folder runs on build machines with Node 18 and newer, as one file for each program (`npm pack`). It
// imports only Node's own modules and sax, which becomes part of that file; `report-secret`, `audit` and `doctor`, which run
// where the bot is installed, also import the bot's code.

/** Exit codes of both programs. Those from 64 are from sysexits.h; 2 is what shells use for wrong usage. */
export const EXIT = { other: 1, settings: 2, usage: 64, notFound: 66, unavailable: 69, refused: 77 }

/** Ends a program: `message` is printed as one line, `exitCode` is the exit code. */
export class Failure extends Error {
  /** @param {number} exitCode @param {string} message */
  constructor(exitCode, message) {
    super(message)
    this.exitCode = exitCode
  }
}

/**
 * Runs `work`. If it throws, prints one line to stderr and sets the exit code. No line contains the secret.
 *
 * @param {{ name: string, secret: string }} program
 * @param {(print: import('./print.js').Print) => Promise<void>} work
 */
export async function runProgram({ name, secret }, work) {
  const print = createPrint(secret)
  // The reader of a pipe may close it early, as `head` does.
  process.stdout.on('error', (error) => {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPIPE') throw error
  })
  try {
    if (typeof fetch !== 'function') throw new Failure(EXIT.other, 'this needs Node 18 or newer')
    await work(print)
  } catch (error) {
    const failure = error instanceof Failure ? error : new Failure(EXIT.other, `stopped: ${nameOf(error)}`)
    print.error(`${name}: ${failure.message}`)
    process.exitCode = failure.exitCode
  }
}
