// @ts-check
import { deliver } from '../delivery/deliver.js'
import { FIELDS, helpRows, helpWhere } from '../delivery/fields.js'
import { DEADLINE_S, DEADLINE_S_MAX, readSettings } from '../delivery/settings.js'
import { EXIT } from '../program.js'
import { collect } from './collect.js'
import { bodyOf } from './body.js'
import { jobIn } from './job.js'
import { readLogEnd } from './log.js'
import { createMask } from './mask.js'

/** Three tries in all. A report does not justify more of the build's time. */
const RETRIES_MAX = 2

const SHARD = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/

/** The fields that identify the build and its job; the bot reads no others. */
const IDS = [
  ...FIELDS.filter(({ name }) => name === 'project_id' || name === 'build_id'),
  /** @type {const} */ ({ name: 'attempt', form: 'id', what: 'only of GitHub: which attempt of the run' }),
  /** @type {const} */ ({ name: 'job', form: 'text', what: "the job's name, if several jobs report tests" }),
]

/** @type {Omit<import('../delivery/settings.js').Step, 'endpoint'>} */
const STEP = {
  name: 'report',
  fields: IDS,
  flags: ['--junit', '--log', '--shard'],
  faultsOf: (values) => {
    const [, part, of] = SHARD.exec(values.get('--shard')?.at(-1)?.trim() || '1/1') ?? []
    return [
      ...(globsIn(values).length > 0
        ? []
        : ["--junit is not given: where the reports are, such as 'reports/**/*.xml'"]),
      ...(Number(part) <= Number(of) ? [] : ['--shard is not a part such as 2/4']),
    ]
  },
  usageExit: EXIT.settings,
}

/**
 * Sends the bot which tests failed. A fault in the reports is a line on stderr. The step fails only with `--strict`, if the
 * bot did not get the report. Wrong usage always throws a Failure.
 *
 * @type {import('../program.js').Work}
 */
export async function report(args, env, print) {
  const job = jobIn(env)
  const settings = readSettings({ ...STEP, endpoint: job.endpoint }, args, job.env)
  const mask = createMask(env)
  const complain = (/** @type {string} */ line) => print.error(mask(`buildline: ${line}`))
  const { sums, troubles } = await collect(globsIn(settings.values), mask)
  if (sums.tests === 0) return complain(`nothing is reported: ${troubles.join('; ')}`)
  for (const trouble of troubles) complain(trouble)
  const log = await readLogEnd(settings.values.get('--log')?.at(-1)?.trim(), mask, complain)
  const shard = settings.values.get('--shard')?.at(-1)?.trim() || null
  const what = `${sums.failed} of ${sums.tests} tests failed in build #${settings.build['build_id']}`
  const ending = await deliver(settings, bodyOf(settings.build, { ...sums, shard, log }), RETRIES_MAX)
  if (ending.kind === 'taken') return print.line(`buildline: reported: ${what} (${ending.answer})`)
  complain(`not reported: ${what}: ${ending.why}${settings.isStrict ? '' : '; the build goes on'}`)
  return settings.isStrict ? ending.exitCode : 0
}

/** @param {import('../delivery/settings.js').Values} values */
const globsIn = (values) => (values.get('--junit') ?? []).map((glob) => glob.trim()).filter(Boolean)

export const reportHelp = () => `buildline report: sends the Buildline bot which tests failed, from JUnit XML reports.

  buildline report --junit 'reports/**/*.xml' --project-id 12 --build-id 512

  --junit <glob>        needed, may be repeated: the reports, with **, * and ?; node_modules, .git and links are not
                        entered. Quote it, or the shell may expand it
  --log <file>          sends the last lines of this file too; without it no log is sent
  --shard <2/4>         if several machines share a build's tests: which part this is

${helpWhere()}

The build, as for buildline notify, from the environment or as a flag, which takes precedence:
${helpRows(IDS)}

In a GitHub Actions or GitLab CI job all of these are known from the job's own environment, and BUILDLINE_SECRET is what
buildline report-secret prints for its repository. In a matrix, name each job: --job 'test 24'.

  --deadline <seconds>  gives up after this time, retries included: 1 to ${DEADLINE_S_MAX}, default ${DEADLINE_S}
  --strict              the step fails if the bot did not get the report; never if a report cannot be read
  --help                this text

It sends totals, the names of failed and flaky tests and the first line of each failure: 64 KiB at most. *** replaces the
values of environment variables with secret-looking names, and what looks like a token, key or password.

Exit codes:
  0   reported; or not reported: a line on stderr says why, and the build goes on
  2   wrong usage: something is missing or not understood
  69  --strict: the bot could not be reached in time, in three tries
  77  --strict: the bot does not accept the secret
  1   --strict: anything else that the bot answered
`
