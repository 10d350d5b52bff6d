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
 * What a program needs of its process.
 *
 * @typedef {Readonly<Record<string, string | undefined>>} Environment
 * @typedef {{
 *   argv: readonly string[]
 *   env: Environment
 *   stdout: NodeJS.WritableStream
 *   stderr: NodeJS.WritableStream
 * }} Host
 *
 * Does what the arguments say; resolves to the exit code, or to nothing for 0.
 * @typedef {(args: readonly string[], env: Environment, print: import('./print.js').Print) => Promise<number | void>} Work
 */

/**
 * Runs `work`. If it throws, prints one line to stderr. No line contains the secret.
 *
 * @param {{ name: string, secret: string }} program `secret`: the environment variable with the secret
 * @param {Host} host
 * @param {Work} work
 * @returns {Promise<number>} the exit code
 */
export async function runProgram({ name, secret }, { argv, env, stdout, stderr }, work) {
  const print = createPrint(env[secret]?.trim() ?? '', stdout, stderr)
  // The reader of a pipe may close it early, as `head` does.
  stdout.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
    if (error.code !== 'EPIPE') throw error
  })
  try {
    if (typeof fetch !== 'function') throw new Failure(EXIT.other, 'this needs Node 18 or newer')
    return (await work(argv.slice(2), env, print)) ?? 0
  } catch (error) {
    const failure = error instanceof Failure ? error : new Failure(EXIT.other, `stopped: ${nameOf(error)}`)
    print.error(`${name}: ${failure.message}`)
    return failure.exitCode
  }
}
