import { asCount, asRatio, exactly, inMB, inS, none, note, type Benchmark, type Row } from './benchmark.ts'
import { BUILDS_PER_DAY, BUSIEST_HOUR_SHARE, planDay, PROJECTS_PER_ORGANIZATION } from './day-builds.ts'
import { playWorkspace, type Played, type StepResult } from './day-workspace.ts'
import { median, percentile } from './statistics.ts'

const ORGANIZATIONS = 1_000
/** Few, so that it is over soon; `--organizations 1000` plays them all. */
export const ORGANIZATIONS_PLAYED = 3

const DAY_S = 24 * 60 * 60
const HOUR_S = 60 * 60
const RETENTION_DAYS = 90
const MB = 1_048_576

export const day: Benchmark = {
  name: 'day',
  about: `A simulated day of ${asCount(ORGANIZATIONS)} organizations with ${asCount(BUILDS_PER_DAY)} builds each: ${PROJECTS_PER_ORGANIZATION} projects, each with its own channel, every event; office hours, bursts, nightly builds, a quarter red. Each organization has its own workspace, bot and database. The clock is simulated; Slack is in memory, keeps its limits and takes 20 to 200 ms for a call. Lag is the time from the delivery of an end until Slack shows it, in a new message (a reply) and on the card. Processor time leaves out HTTP and the disk.`,
  async run({ organizations, say }) {
    const days: Played[] = []
    for (let seed = 1; seed <= organizations; seed++) {
      const builds = planDay(seed)
      days.push(await playWorkspace({ builds, channels: PROJECTS_PER_ORGANIZATION, events: 'every', seed }))
      say(`  organization ${seed} of ${organizations}: ${days.at(-1)!.cpuS.toFixed(1)} s of processor time`)
    }
    return [
      note(
        'day: simulated organizations; builds',
        `${asCount(days.length)} of ${asCount(ORGANIZATIONS)}; ${asCount(days.length * BUILDS_PER_DAY)}`,
      ),
      ...lagRows(days.flatMap(({ told }) => told)),
      ...slackRows(days),
      ...costRows(days),
    ]
  },
}

function lagRows(told: readonly StepResult[]): Row[] {
  const late = told.filter(({ cardAfterMs }) => cardAfterMs === null)
  return [
    ...[true, false].flatMap((isRed) => {
      const [these, which] = [told.filter(({ build }) => build.isRed === isRed), isRed ? 'failures' : 'all others']
      return [
        note(
          `day: lag of the message, ${which}: median, p99, max`,
          spread(these.map(({ newsAfterMs }) => newsAfterMs)),
        ),
        note(`day: lag of the card, ${which}: median, p99, max`, spread(these.map(({ cardAfterMs }) => cardAfterMs))),
      ]
    }),
    exactly('day: ends that are not on their card in the end', late.length, 0),
  ]
}

function spread(lagsMs: readonly (number | null)[]): string {
  const lags = lagsMs.flatMap((ms) => (ms === null ? [] : [ms / 1_000]))
  return [median(lags), percentile(lags, 0.99), Math.max(...lags)].map(inS).join(', ')
}

function slackRows(days: readonly Played[]): Row[] {
  const perBuild = (pick: (played: Played) => number) => asRatio(sum(days, pick) / (days.length * BUILDS_PER_DAY))
  const calls = [
    perBuild((played) => played.calls.post),
    perBuild((played) => played.calls.edit),
    perBuild((played) => played.calls.find + played.calls.remove + played.calls.ping),
  ]
  return [
    note('day: Slack calls a build: posts, edits, all others', calls.join(', ')),
    exactly(
      'day: calls answered 429',
      sum(days, ({ limited }) => limited),
      0,
    ),
    none('day: warnings and errors', [...new Set(days.flatMap(({ complaints }) => complaints))]),
  ]
}

function costRows(days: readonly Played[]): Row[] {
  const buildsS = sum(days, ({ cpuS }) => cpuS) / days.length
  const restS = sum(days, ({ restedS, restMsPerS }) => (restedS * restMsPerS) / 1_000) / days.length
  const peak = (buildsS * BUSIEST_HOUR_SHARE) / HOUR_S + restS / DAY_S
  const megabytes = sum(days, ({ databaseBytes }) => databaseBytes) / days.length / MB
  const gigabytes = ((megabytes * RETENTION_DAYS * ORGANIZATIONS) / 1_024).toFixed(0)
  return [
    note('day: processor time an organization; of that while idle', `${inS(buildsS + restS)}; ${inS(restS)}`),
    note('day: organizations on one core, by that', asCount(DAY_S / (buildsS + restS))),
    note('day: organizations on one core, in the busiest hour', asCount(1 / peak)),
    note(
      `day: database, an organization: a day, ${RETENTION_DAYS} days`,
      [megabytes, megabytes * RETENTION_DAYS].map(inMB).join(', '),
    ),
    note(`day: database, ${asCount(ORGANIZATIONS)} organizations, ${RETENTION_DAYS} days`, `${gigabytes} GB`),
  ]
}

const sum = (days: readonly Played[], pick: (played: Played) => number): number =>
  days.reduce((total, played) => total + pick(played), 0)
