// @ts-check
import { audit, auditHelp } from './audit.js'
import { doctor, doctorHelp } from './doctor.js'
import { nearest, quoted } from './nearest.js'
import { notify, notifyHelp } from './notify/notify.js'
import { EXIT, Failure, runProgram } from './program.js'
import { report, reportHelp } from './report/report.js'
import { reportSecret, reportSecretHelp } from './report-secret.js'

/**
 * @typedef {import('./program.js').Environment} Environment
 * @typedef {import('./print.js').Print} Print
 * @typedef {{
 *   help: () => string
 *   run: import('./program.js').Work
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
  if (name === '--version') return print.text(`${VERSION}\n`)
  if (name === '--help' || name === 'help') return print.text(HELP)
  const command = COMMANDS.get(name)
  if (!command) throw new Failure(EXIT.usage, `${unknownCommand(name)}. See buildline --help`)
  return args.includes('--help') ? print.text(command.help()) : command.run(args, env, print)
}

/** @param {string} name */
const unknownCommand = (name) =>
  name === ''
    ? 'no command is given'
    : `unknown command ${quoted(name)}; the nearest is "${nearest(name, [...COMMANDS.keys()])}"`

/** The program. @param {import('./program.js').Host} host */
export const buildline = (host) => runProgram({ name: 'buildline', secret: 'BUILDLINE_SECRET' }, host, dispatch)
