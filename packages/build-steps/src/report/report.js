// @ts-check
import { deliver } from '../delivery/deliver.js'
import { FIELDS, helpRows, helpWhere } from '../delivery/fields.js'
import { DEADLINE_S, DEADLINE_S_MAX, readSettings } from '../delivery/settings.js'
import { EXIT } from '../program.js'
import { collect } from './collect.js'
import { bodyOf } from './body.js'
import { readLogEnd } from './log.js'
import { createMask } from './mask.js'
import { createCleaner } from './text.js'

/** A report is tried three times in all: it is worth less than the build's minutes. */
const RETRIES_MAX = 2

const SHARD = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/

/** What names a build; its report says nothing else about it. */
const NAMING = FIELDS.filter(({ name }) =>
  ['project_id', 'build_id', 'project_name', 'branch', 'commit_id'].includes(name),
)

/** @type {import('../delivery/settings.js').Step} */
const STEP = {
  name: 'report',
  door: '/webhooks/reports',
  fields: NAMING,
  flags: ['--junit', '--log', '--shard'],
  faultsOf: (values) => {
    const [, part, of] = SHARD.exec(values.get('--shard')?.at(-1)?.trim() || '1/1') ?? []
    return [
      ...(globsIn(values).length > 0
        ? []
        : ["--junit is not given: where the reports are, such as 'reports/**/*.xml'"]),
      ...(Number(part) <= Number(of) ? [] : ['--shard is no part of a whole, such as 2/4']),
    ]
  },
  usageExit: EXIT.settings,
}

/**
 * Tells the bot which tests failed. Whatever is wrong with the reports is a line on stderr; only a bot that was not told
 * makes the step fail, and only with `--strict`. Wrong usage throws a Failure in any case.
 *
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string | undefined>>} env
 * @param {import('../print.js').Print} print
 */
export async function report(args, env, print) {
  const settings = readSettings(STEP, args, env)
  const mask = createMask(env)
  const complain = (/** @type {string} */ line) => print.error(mask(`buildline: ${line}`))
  const { sums, troubles } = await collect(globsIn(settings.values), mask)
  if (sums.tests === 0) return complain(`nothing is reported: ${troubles.join('; ')}`)
  for (const trouble of troubles) complain(trouble)
  const log = await readLogEnd(settings.values.get('--log')?.at(-1)?.trim(), mask, complain)
  const shard = settings.values.get('--shard')?.at(-1)?.trim() || null
  const what = `${sums.failed} of ${sums.tests} tests failed in build #${settings.build['build_id']}`
  const ending = await deliver(settings, bodyOf(cleaned(settings.build, mask), { ...sums, shard, log }), RETRIES_MAX)
  if (ending.kind === 'taken') return print.line(`buildline: reported: ${what} (${ending.answer})`)
  complain(`not reported: ${what}: ${ending.why}${settings.isStrict ? '' : '; the build goes on'}`)
  if (settings.isStrict) process.exitCode = ending.exitCode
}

/** @param {import('../delivery/settings.js').Values} values */
const globsIn = (values) => (values.get('--junit') ?? []).map((glob) => glob.trim()).filter(Boolean)

/** Ids are no words that could hold a secret. @param {Record<string, string | number>} build @param {import('./text.js').Mask} mask */
const cleaned = (build, mask) =>
  Object.fromEntries(
    Object.entries(build).map(([name, value]) => [
      name,
      typeof value === 'string' && name !== 'project_id' && name !== 'build_id'
        ? createCleaner(mask).whole(value)
        : value,
    ]),
  )

export const reportHelp = () => `buildline report: tells the Buildline bot which tests failed, from JUnit XML reports.

  buildline report --junit 'reports/**/*.xml' --project-id 12 --build-id 512

  --junit <glob>        needed, may be repeated: the reports; **, * and ? are understood, node_modules, .git and links
                        are not entered. Quote it, or the shell may expand it
  --log <file>          sends the last lines of this file too; without it no log is sent
  --shard <2/4>         where several machines share a build's tests: which part this is

${helpWhere()}

The build, as for buildline notify, from the environment or as a flag, which counts more:
${helpRows(NAMING)}

  --deadline <seconds>  gives up after so long, retries included: 1 to ${DEADLINE_S_MAX}, default ${DEADLINE_S}
  --strict              a bot that could not be told fails the build step; a report that cannot be read never does
  --help                this text

Sent are sums, the names of failed and flaky tests and the first line of each failure: 64 KiB at most. In all of it, ***
stands for the values of environment variables with secret-looking names and for what looks like a token, key or password.

Exit codes:
  0   reported; or not, and one line on stderr says why, and the build goes on
  2   wrong usage: something is missing or not understood
  69  --strict: the bot could not be reached in time, in three tries
  77  --strict: the bot does not know the secret
  1   --strict: anything else that the bot answered
`
