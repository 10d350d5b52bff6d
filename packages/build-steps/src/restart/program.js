// @ts-check
import { runProgram } from '../program.js'
import { restartLastBuild } from './restart.js'
import { readSettings } from './settings.js'

const HELP = `service_restart_build: restarts the last build of a branch of a Basic project in the CI service.

  service_restart_build [--url <address>]

Environment, all of it needed:
  SERVICE_API_KEY         the account's API key, from CI's account page
  SERVICE_API_PROJECT_ID  the project's id, from the project's address (an integer; a uuid is passed on as it is)
  SERVICE_API_BRANCH      the branch, by its full name
  SERVICE_API_URL         base address of CI's legacy interface, the part before /api/v1; there is no default

  --url <address>         overrides SERVICE_API_URL
  --help                  this text

The restart is sent once and never repeated. Exit codes:
  0   CI accepted it
  64  something is missing or not understood
  66  no such project, branch or build
  69  CI cannot be reached or had an internal error; the message says if the build may have been restarted
  77  CI refused the key
  1   anything else
`

/** The program. @param {import('../program.js').Host} host */
export const serviceRestartBuild = (host) =>
  runProgram({ name: 'service_restart_build', secret: 'SERVICE_API_KEY' }, host, async (args, env, print) => {
    if (args.includes('--help')) print.text(HELP)
    else await restartLastBuild(readSettings(args, env), print.line)
  })
