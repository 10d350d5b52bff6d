import { asCount, exactly, inS, note, type Benchmark, type Row } from './benchmark.ts'
import { BUSIEST_HOUR_SHARE, planEvenly } from './day-builds.ts'
import { playWorkspace, type Played, type StepResult } from './day-workspace.ts'
import { median } from './statistics.ts'

const CHANNELS = 100
const MINUTES = 6
/** Builds a minute, below and beyond what Slack ingests edits. */
const RUNGS = [40, 48, 60, 100]

const MILLION = 1_000_000
const MILLION_CHANNELS = 1_000
const MILLION_MINUTES = 2
/** So long after the last beginning it is looked at what people see. */
const LOOK_AFTER_MINUTES = 1
const PER_MINUTE = Math.round((MILLION * BUSIEST_HOUR_SHARE) / 60)

const MINUTE_MS = 60_000
const EDITS_PER_MINUTE = 50

/** What ended just now may still be on its way. */
const TOLD_WITHIN_MS = 10_000

export const workspace: Benchmark = {
  name: 'workspace',
  about: `One workspace, simulated like the day: builds in ${CHANNELS} channels for ${MINUTES} minutes, each running for one or two minutes. Then the builds of all 1,000 organizations in one workspace with ${asCount(MILLION_CHANNELS)} channels: ${MILLION_MINUTES} minutes of the busiest hour, ${asCount(PER_MINUTE)} builds a minute. Slack accepts ${EDITS_PER_MINUTE} edits a minute from one workspace.`,
  async run({ say }) {
    const rows: Row[] = []
    for (const perMinute of RUNGS) {
      say(`  ${perMinute} builds a minute`)
      rows.push(...rungRows(perMinute, await playRung(perMinute)))
    }
    say('  a million builds a day, every event')
    rows.push(...millionRows('every event', await playMillion('every')))
    say('  a million builds a day, failures alone')
    rows.push(...millionRows('failed and recovered', await playMillion(['failed', 'recovered']), true))
    return rows
  },
}

const playRung = (perMinute: number): Promise<Played> =>
  playWorkspace({
    builds: planEvenly(perMinute, { perMinute, minutes: MINUTES, projects: CHANNELS }),
    channels: CHANNELS,
    events: 'every',
    seed: perMinute,
    untilMs: MINUTES * MINUTE_MS,
  })

function rungRows(perMinute: number, { told, editsLeft, limited }: Played): Row[] {
  const where = `${perMinute} builds a minute`
  const due = told.filter(({ build }) => build.endsAt <= MINUTES * MINUTE_MS - TOLD_WITHIN_MS)
  return [
    note(
      `${where}: cards that show the end, failures: how many; median, max`,
      onCards(due.filter(({ build }) => build.isRed)),
    ),
    note(
      `${where}: cards that show the end, all others: how many; median, max`,
      onCards(due.filter(({ build }) => !build.isRed)),
    ),
    note(`${where}: edits that wait after ${MINUTES} minutes`, asCount(editsLeft)),
    exactly(`${where}: calls answered 429`, limited, 0),
  ]
}

function onCards(due: readonly StepResult[]): string {
  const after = due.flatMap(({ cardAfterMs }) => (cardAfterMs === null ? [] : [cardAfterMs / 1_000]))
  const took = after.length === 0 ? '' : `; ${inS(median(after))}, ${inS(Math.max(...after))}`
  return `${asCount(after.length)} of ${asCount(due.length)}${took}`
}

const MILLION_MS = (MILLION_MINUTES + LOOK_AFTER_MINUTES) * MINUTE_MS

const playMillion = (events: readonly string[] | 'every'): Promise<Played> =>
  playWorkspace({
    builds: planEvenly(1, { perMinute: PER_MINUTE, minutes: MILLION_MINUTES, projects: MILLION_CHANNELS }),
    channels: MILLION_CHANNELS,
    events,
    seed: 1,
    untilMs: MILLION_MS,
  })

/** @param onlyRed the channels ask for nothing else */
function millionRows(events: string, { told, calls, editsLeft, limited, cpuS }: Played, onlyRed = false): Row[] {
  const where = `a million builds a day, ${events}`
  const due = told.filter(({ build }) => (build.isRed || !onlyRed) && build.endsAt <= MILLION_MS - TOLD_WITHIN_MS)
  const heard = due.flatMap(({ newsAfterMs }) => (newsAfterMs === null ? [] : [newsAfterMs / 1_000]))
  return [
    note(`${where}: ends in a new message`, `${asCount(heard.length)} of ${asCount(due.length)}`),
    note(`${where}: until that message: median, max`, `${inS(median(heard))}, ${inS(Math.max(...heard))}`),
    note(
      `${where}: cards that show the end, failures: how many; median, max`,
      onCards(due.filter(({ build }) => build.isRed)),
    ),
    ...(onlyRed
      ? []
      : [
          note(
            `${where}: cards that show the end, all others: how many; median, max`,
            onCards(due.filter(({ build }) => !build.isRed)),
          ),
        ]),
    note(`${where}: posts, edits`, `${asCount(calls.post)}, ${asCount(calls.edit)}`),
    note(
      `${where}: edits that wait; minutes that Slack needs for them`,
      `${asCount(editsLeft)}; ${asCount(editsLeft / EDITS_PER_MINUTE)}`,
    ),
    exactly(`${where}: calls answered 429`, limited, 0),
    note(`${where}: processor time for ${asCount(MILLION_MS / 1_000)} s`, inS(cpuS)),
  ]
}
