import { revisionKey } from '../../../src/domain/builds/build-event.ts'
import { describe, expect, test } from 'vitest'
import { DAY_MS } from '../../../src/domain/rules/digest.ts'
import type { Figures, FigureQuery } from '../../../src/domain/builds/figures.ts'
import { buildsSince, collectFigures } from '../../../src/store/figures.ts'
import { buildId, HOUR, MINUTE, projectId, T0, WEB } from '../../support/build-events.ts'
import type { Place, Places } from '../../support/stores.ts'
import { seen } from '../given.ts'

const API = '42'
const PROJECTS = [projectId(WEB), projectId(API)]
const WEEK = 7 * DAY_MS
const FROM = T0 + WEEK
const WEEKLY: FigureQuery = {
  period: { from: FROM, to: FROM + WEEK },
  before: { from: T0, to: FROM },
  days: Array.from({ length: 7 }, (_, n) => FROM + n * DAY_MS),
}

/** The figures of builds. They are compared with the result of a separate SQL query on the same rows. */
export function figureClaims(places: () => Places): void {
  describe.each([1, 2, 3, 4])('the figures of the random history %i', (history) => {
    test('equal those of the SQL query', async () => {
      await using place = await places().open()
      await fill(place, history)
      const figures = await collectFigures(place.store.read, { only: PROJECTS }, WEEKLY)
      expect(sorted(figures)).toEqual(await bySql(place, WEEKLY))
      expect(figures.builds).toBeGreaterThan(300)
      for (const list of [figures.red, figures.flaky, figures.slower]) expect(list).not.toEqual([])
    })

    test('are the same for each project alone', async () => {
      await using place = await places().open()
      await fill(place, history)
      const [both, web, api] = await Promise.all(
        [PROJECTS, [PROJECTS[0]!], [PROJECTS[1]!]].map((ids) =>
          collectFigures(place.store.read, { only: ids }, WEEKLY),
        ),
      )
      expect(web!.builds + api!.builds).toBe(both!.builds)
      await place.store.write(async (tx) => {
        for (const id of PROJECTS)
          await tx.saveDeliveredProject({ projectId: id, name: id, fullName: null, projectUuid: null, at: T0 })
      })
      expect(sorted(await collectFigures(place.store.read, { except: [] }, WEEKLY))).toEqual(sorted(both!))
      expect(sorted(await collectFigures(place.store.read, { except: [API] }, WEEKLY))).toEqual(sorted(web!))
      expect(sorted(both!).red).toEqual([...sorted(web!).red, ...sorted(api!).red])
    })
  })

  test.each([
    ['each named', true],
    ['all together', false],
  ])('only projects with builds are read, however many are followed, %s', async (_, isNamed) => {
    await using place = await places().open()
    const all = Array.from({ length: 2_500 }, (__, n) => projectId(String(1_000 + n)))
    await place.store.write(async (tx) => {
      for (const id of all)
        await tx.saveDeliveredProject({ projectId: id, name: `p${id}`, fullName: null, projectUuid: null, at: T0 })
    })
    const [first, excluded, last] = [all[0]!, all[1_200]!, all.at(-1)!]
    const built = [first, excluded, last].map((project) => ({ word: 'success', at: FROM, build: '1', project }))
    await insert(
      place,
      built.map((one) => ({ ...one, branch: 'main', commit: 'c' })),
    )
    const projects = isNamed ? { only: all.filter((id) => id !== excluded) } : { except: [excluded] }
    let turns = 0
    let others = setImmediate(function turn() {
      turns++
      others = setImmediate(turn)
    })
    expect([...(await buildsSince(place.store.read, projects, FROM)).keys()].toSorted()).toEqual([first, last])
    clearImmediate(others)
    expect(turns).toBeGreaterThan(0)
    expect((await buildsSince(place.store.read, projects, FROM + 1)).size).toBe(0)
    expect((await collectFigures(place.store.read, projects, WEEKLY)).builds).toBe(2)
  })

  test('a branch that was red before the period, and on which nothing ends, is red during all of it', async () => {
    await using place = await places().open()
    const at = T0 - 30 * DAY_MS
    await insert(place, [{ word: 'error', at, build: '7', branch: 'old', commit: 'c' }])
    const known = { buildId: buildId('7'), buildOrder: '7', attempt: 1, revisionKey: 'r', cardNumber: 1, branch: 'old' }
    const how = { status: 'failed', rawStatus: 'error', at, buildUuid: null, committer: null } as const
    await place.store.write((tx) => tx.saveBuild({ projectId: PROJECTS[0]!, ...known, ...how }))
    const { red, builds } = await collectFigures(place.store.read, { only: PROJECTS }, WEEKLY)
    expect([red, builds]).toEqual([[{ projectId: WEB, branch: 'old', forMs: WEEK }], 0])
  })

  test('a requested restart is an attempt of its own, however soon it ends', async () => {
    await using place = await places().open()
    const build = { build: '9', branch: 'main', commit: 'c' }
    await insert(place, [
      { ...build, word: 'error', at: FROM + MINUTE },
      { ...build, word: 'initiated', at: FROM + 2 * MINUTE + 1, origin: 'poll' },
      { ...build, word: 'success', at: FROM + 3 * MINUTE },
    ])
    const { builds, flaky } = await collectFigures(place.store.read, { only: PROJECTS }, WEEKLY)
    expect([builds, flaky]).toEqual([2, [{ projectId: WEB, branch: 'main', commits: 1, flaky: 1, lostMs: 0 }]])
  })
}

interface Told {
  word: string
  at: number
  project?: string
  build: string
  branch: string
  commit: string
  origin?: 'delivery' | 'poll'
  details?: { startedAt?: number; finishedAt?: number }
}

/** Inserts in order of receipt. */
async function insert({ store }: Place, all: readonly Told[]): Promise<void> {
  await store.write(async (tx) => {
    for (const { at, origin = 'delivery', ...said } of all) {
      const event = seen(said)
      await tx.insertBuildEvent(event, { at, origin, priority: 1, revisionKey: revisionKey(event) })
    }
  })
}

/** Two weeks of builds, with restarts, repeated and late ends, and ends with times of the source. */
async function fill(place: Place, history: number): Promise<void> {
  const random = randomFrom(history)
  const pick = <One>(all: readonly One[]): One => all[Math.floor(random() * all.length)]!
  const told: Told[] = []
  for (let n = 0; n < 600; n++) {
    const branch = pick(['main', 'main', 'dev', 'fix/1'])
    const week = n < 300 ? 0 : 1
    const common = { project: pick([WEB, API]), build: String(1_000 + n), branch, commit: `c${Math.floor(n / 8)}` }
    let at = T0 - HOUR + Math.floor((n / 600) * (2 * WEEK)) + Math.floor(random() * HOUR)
    for (let attempt = 0; attempt < pick([1, 1, 1, 2, 3]); attempt++) {
      const word = pick(['success', 'success', 'success', 'error', 'error', 'infrastructure_failure', 'stopped'])
      const end = at + MINUTE + Math.floor(random() * 5 * MINUTE) + (branch === 'main' ? week * 4 * MINUTE : 0)
      const lateMs = random() < 0.1 ? Math.floor(random() * 3 * HOUR) : 0
      const details = {
        ...(lateMs > 0 || random() < 0.2 ? { finishedAt: end + (random() < 0.1 ? 20 * MINUTE : 0) } : {}),
        ...(random() < 0.2 ? { startedAt: at - 30_000 } : {}),
      }
      told.push({ ...common, word: 'initiated', at })
      told.push({ ...common, word, at: end + lateMs, details })
      if (random() < 0.1) told.push({ ...common, word, at: end + lateMs + 1_000, details })
      at = end + lateMs + 5 * MINUTE
    }
  }
  await insert(
    place,
    told.sort((a, b) => a.at - b.at),
  )
}

/** Uniform in [0, 1); the same seed gives the same numbers. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    const mixed = Math.imul(state ^ (state >>> 15), state | 1)
    const again = mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61))
    return ((again ^ (again >>> 14)) >>> 0) / 2 ** 32
  }
}

const byName = (a: { projectId: string; branch: string }, b: { projectId: string; branch: string }): number =>
  `${a.projectId} ${a.branch}` < `${b.projectId} ${b.branch}` ? -1 : 1

const sorted = ({ red, flaky, slower, ...counts }: Figures): Figures => ({
  ...counts,
  red: red.toSorted(byName),
  flaky: flaky.toSorted(byName),
  slower: slower.toSorted(byName),
})

/**
 * The same figures, by SQL. Here an attempt ends with each end that is not a repetition. If its end is ahead of the
 * receipt by more than five minutes, the source's clock is wrong, and so is the start.
 */
async function bySql({ kind, sql }: Place, { period, before, days }: FigureQuery): Promise<Figures> {
  const detail = (name: string) =>
    kind === 'sqlite' ? `json_extract(details, '$.${name}')` : `(details::json ->> '${name}')::bigint`
  const [least, greatest] = kind === 'sqlite' ? ['min', 'max'] : ['least', 'greatest']
  const told = `with told as (
      select *, ${detail('finishedAt')} as finished, ${detail('startedAt')} as started,
        lag(word) over (partition by build_key order by seq) as said_before from fact),
    ends as (
      select *, case when finished is null or finished > at then at else finished end as ended,
        coalesce(case when finished > at + ${5 * MINUTE} then null else started end, (select max(begun.at) from fact as begun where begun.build_key = told.build_key
          and begun.seq < told.seq and begun.word = 'initiated')) as began
      from told where word in ('success', 'error', 'infrastructure_failure')
        and (said_before is null or said_before <> word))`
  const rows = async (text: string): Promise<Record<string, number | string>[]> =>
    (await sql(`${told} ${text}`)).map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          name === 'branch' || name === 'project_id' ? String(value) : Number(value),
        ]),
      ),
    )
  const within = ({ from, to }: { from: number; to: number }) => `ended >= ${from} and ended < ${to}`
  const count = async (one: { from: number; to: number }) => {
    const [row] = await rows(`select count(*) as builds, count(case when word = 'success' then 1 end) as passed
      from ends where ${within(one)}`)
    return { builds: Number(row!['builds']), passed: Number(row!['passed']) }
  }
  const list = async <One>(text: string, toOne: (row: Record<string, number | string>) => One) =>
    (await rows(text))
      .map((row) => ({ projectId: projectId(String(row['project_id'])), branch: String(row['branch']), ...toOne(row) }))
      .sort(byName)
  const red = await list(
    `, standing as (
        select *, build_order || '.' || substr('0000000000' || seq, length('' || seq)) as place,
          max(build_order || '.' || substr('0000000000' || seq, length('' || seq)))
            over (partition by branch_key order by ended, seq rows unbounded preceding) as newest
        from ends),
      spans as (select *, lead(ended) over (partition by branch_key order by ended, seq) as until
        from standing where place = newest)
      select project_id, branch, sum(${greatest}(0, ${least}(coalesce(until, ${period.to}), ${period.to})
          - ${greatest}(ended, ${period.from}))) as for_ms
      from spans where word <> 'success' and ended < ${period.to} group by project_id, branch
      having sum(${greatest}(0, ${least}(coalesce(until, ${period.to}), ${period.to})
          - ${greatest}(ended, ${period.from}))) > 0`,
    (row) => ({ forMs: Number(row['for_ms']) }),
  )
  const flaky = await list(
    `, inside as (select * from ends where ${within(period)}),
      good as (select *, case when word = 'error' and exists (select 1 from inside as later
          where later.lineage_key = inside.lineage_key and later.word = 'success'
            and (later.build_order > inside.build_order
              or (later.build_order = inside.build_order and later.seq > inside.seq))) then 1 end as made_good from inside)
      select project_id, branch, count(distinct lineage_key) as commits,
        count(distinct case when made_good = 1 then lineage_key end) as flaky,
        coalesce(sum(case when made_good = 1 and began <= ended then ended - began end), 0) as lost
      from good group by project_id, branch having count(made_good) > 0`,
    (row) => ({ commits: Number(row['commits']), flaky: Number(row['flaky']), lostMs: Number(row['lost']) }),
  )
  const median = (name: string, one: { from: number; to: number }) => `${name} as (
      select project_id, branch, avg(ms) as ms from (select project_id, branch, ended - began as ms,
          row_number() over (partition by branch_key order by ended - began) as place,
          count(*) over (partition by branch_key) as passed
        from ends where word = 'success' and began <= ended and ${within(one)}) as ranked
      where passed >= 5 and place in ((passed + 1) / 2, (passed + 2) / 2) group by project_id, branch)`
  const slower = await list(
    `, ${median('earlier', before)}, ${median('later', period)}
      select later.project_id, later.branch, earlier.ms as before_ms, later.ms as now_ms from earlier join later
        on later.project_id = earlier.project_id and later.branch = earlier.branch
      where later.ms >= earlier.ms * 1.25 and later.ms - earlier.ms >= 60000`,
    (row) => ({ beforeMs: Number(row['before_ms']), nowMs: Number(row['now_ms']) }),
  )
  const byDay: Awaited<ReturnType<typeof count>>[] = []
  for (const [at, from] of days.entries()) byDay.push(await count({ from, to: days[at + 1] ?? period.to }))
  return { ...(await count(period)), before: await count(before), days: byDay, red, flaky, slower }
}
