// @ts-check
import { deliver } from '../delivery/deliver.js'
import { FIELDS, helpRows, helpWhere } from '../delivery/fields.js'
import { DEADLINE_S, DEADLINE_S_MAX, readSettings } from '../delivery/settings.js'
import { EXIT } from '../program.js'

const RETRIES_MAX = 5

/** @type {import('../delivery/settings.js').Step} */
const STEP = {
  name: 'notify',
  endpoint: '/webhooks/builds',
  fields: FIELDS,
  flags: [],
  faultsOf: () => [],
  usageExit: EXIT.usage,
}

/**
 * Sends the bot a build's status. If that fails, prints one line to stderr; the step fails only with `--strict`. Wrong
 * usage always throws a Failure.
 *
 * @type {import('../program.js').Work}
 */
export async function notify(args, env, print) {
  const settings = readSettings(STEP, args, env)
  const what = `notified of build #${settings.build['build_id']} ${settings.build['status']}`
  const ending = await deliver(settings, JSON.stringify({ build: settings.build }), RETRIES_MAX)
  if (ending.kind === 'taken') return print.line(`buildline: ${what} (${ending.answer})`)
  print.error(`buildline: not ${what}: ${ending.why}${settings.isStrict ? '' : '; the build goes on'}`)
  return settings.isStrict ? ending.exitCode : 0
}

export const notifyHelp =
  () => `buildline notify: sends the Buildline bot this build's state, as the CI service's own deliveries do.

  buildline notify --status success --project-id 12 --build-id 512

${helpWhere()}

What, from the environment or as a flag, which takes precedence; an empty value counts as not set:
${helpRows(FIELDS)}

  --deadline <seconds>  gives up after this time, retries included: 1 to ${DEADLINE_S_MAX}, default ${DEADLINE_S}
  --strict              a failure to notify fails the build step
  --help                this text

Sending twice is safe: the bot ignores a delivery that it already has. It is sent again, ${RETRIES_MAX} times at most, when
the bot is away or overloaded (429, 502, 503, 504) or its answer got lost. Retry-After is respected.

Exit codes:
  0   notified; or, without --strict, not notified: one line on stderr says why, and the build goes on
  64  wrong usage: something is missing or not understood
  69  --strict: the bot could not be reached in time
  77  --strict: the bot does not accept the secret
  1   --strict: anything else
`
