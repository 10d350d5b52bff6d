#!/usr/bin/env node
// @ts-check
import { audit, auditHelp } from './audit.js'
import { doctor, doctorHelp } from './doctor.js'
import { nearest, quoted } from './nearest.js'
import { notify, notifyHelp } from './notify/notify.js'
import { EXIT, Failure, runProgram } from './program.js'
import { report, reportHelp } from './report/report.js'
import { reportSecret, reportSecretHelp } from './report-secret.js'

/**
 * @typedef {Readonly<Record<string, string | undefined>>} Environment
 * @typedef {import('./print.js').Print} Print
 * @typedef {{
 *   help: () => string
 *   run: (args: readonly string[], env: Environment, print: Print) => Promise<void>
 * }} Command
 */

/** The same as in package.json, which a build machine may not have: this program runs as one file. */
const VERSION = '0.2.0'

/** @type {ReadonlyMap<string, Command>} */
const COMMANDS = new Map([
  ['notify', { help: notifyHelp, run: notify }],
  ['report', { help: reportHelp, run: report }],
  ['report-secret', { help: reportSecretHelp, run: reportSecret }],
  ['audit', { help: auditHelp, run: audit }],
  ['doctor', { help: doctorHelp, run: doctor }],
])

const HELP = `buildline: what a build step can send to the Buildline bot.

  buildline notify         sends the bot this build's status
  buildline report         sends the bot which tests failed
  buildline report-secret  where the bot runs: the secret with which a repository's jobs report
  buildline audit          where the bot runs: who asked for what, as JSON lines
  buildline doctor         where the bot runs: what is misconfigured, and how to fix it
  buildline <command> --help
  buildline --version
`

/** @param {readonly string[]} args @param {Environment} env @param {Print} print */
async function dispatch([name = '', ...args], env, print) {
  if (name === '--version') return void process.stdout.write(`${VERSION}\n`)
  if (name === '--help' || name === 'help') return void process.stdout.write(HELP)
  const command = COMMANDS.get(name)
  if (!command) throw new Failure(EXIT.usage, `${unknownCommand(name)}. See buildline --help`)
  if (args.includes('--help')) return void process.stdout.write(command.help())
  await command.run(args, env, print)
}

/** @param {string} name */
const unknownCommand = (name) =>
  name === ''
    ? 'no command is given'
    : `unknown command ${quoted(name)}; the nearest is "${nearest(name, [...COMMANDS.keys()])}"`

const { argv, env: environment } = process
await runProgram({ name: 'buildline', secret: environment['BUILDLINE_SECRET']?.trim() ?? '' }, (print) =>
  dispatch(argv.slice(2), environment, print),
)
