import { expect, test } from 'vitest'
import { idOrder, toUuid } from '../../../src/domain/ids.ts'
import { branchKey } from '../../../src/domain/builds/revision.ts'
import { hasStreak } from '../../../src/domain/builds/stream.ts'
import type { DeliveredProject, KnownBuild, Projects } from '../../../src/store/records.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Streak } from '../../../src/domain/builds/streak.ts'
import { redBranches } from '../../../src/store/streaks.ts'
import { buildId, HOUR, messageTs, MINUTE, projectId, T0, WEB } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { streak } from '../../support/streaks.ts'
import { BUILDS, CARD, claimed, REVISION, RELEASES, several } from '../given.ts'

const API = '42'
const MAIN = branchKey(projectId(WEB), 'main')
const UUID = toUuid('1b4e28ba-2fa1-11d2-883f-0016d3cca427')
const TS = messageTs('1772460000.000100')

/** Build 512 of acme/web has passed on `main`, by default. */
const known = ({ project = WEB, build = '512', ...change }: Partial<KnownBuild> & Named = {}): KnownBuild => ({
  projectId: projectId(project),
  buildId: buildId(build),
  buildOrder: idOrder(build),
  attempt: 1,
  revisionKey: REVISION,
  cardNumber: 1,
  branch: 'main',
  status: 'success',
  rawStatus: 'success',
  at: T0,
  buildUuid: null,
  committer: null,
  ...change,
})

interface Named {
  project?: string
  build?: string
}

const running = { status: 'started', rawStatus: 'initiated' } as const

const keep = (store: Store, ...builds: (Partial<KnownBuild> & Named)[]): Promise<void> =>
  store.write(async (tx) => {
    for (const build of builds) await tx.saveBuild(known(build))
  })

const web = (change: Partial<DeliveredProject> = {}): DeliveredProject => ({
  projectId: projectId(WEB),
  name: 'web',
  fullName: 'acme/web',
  projectUuid: UUID,
  at: T0,
  ...change,
})

const hearOf = (store: Store, ...projects: DeliveredProject[]): Promise<void> =>
  store.write(async (tx) => {
    for (const project of projects) await tx.saveDeliveredProject(project)
  })

const idsOf = (builds: readonly KnownBuild[]) => builds.map((build) => `${build.projectId}/${build.buildId}`)

/** The state of each build, and the name of its project. */
export function buildClaims(places: () => Places): void {
  test('builds are due to be asked how they ended, until that is known; another attempt is another end', async () => {
    await using place = await places().open()
    const { store } = place
    const red = { status: 'failed', rawStatus: 'error' } as const
    await store.write(async (tx) => {
      await tx.saveBuild({ ...known({ ...red, build: '512' }), readEndAt: T0 + MINUTE })
      await tx.saveBuild({ ...known({ ...red, build: '513', attempt: 2 }), readEndAt: T0 })
      await tx.saveBuild(known({ ...red, build: '514' }))
    })
    const due = async (at: number) => (await store.read.unreadEnds(at, 9)).map((one) => one.buildId)
    expect([await due(T0), await due(T0 + HOUR)]).toEqual([['513'], ['513', '512']])
    await store.write((tx) => tx.setReadEndAt(known({ build: '513', attempt: 1 }), null))
    expect(await due(T0)).toEqual(['513'])
    await store.write((tx) => tx.setReadEndAt({ ...known({ build: '513', attempt: 2 }), at: T0 - 1 }, null))
    expect(await due(T0)).toEqual(['513'])
    await store.write((tx) => tx.setReadEndAt(known({ build: '513', attempt: 2 }), null))
    expect(await due(T0 + HOUR)).toEqual(['512'])
  })

  test('the outcomes of a branch that is gone leave nothing red, whatever is built under its name later', async () => {
    await using place = await places().open()
    const { store } = place
    const red = { status: 'failed', rawStatus: 'error' } as const
    const redNow = async () => (await store.read.redBuilds({ only: [WEB] }, 9)).map((one) => one.buildId)
    await keep(store, { ...red, build: '512' })
    expect(await redNow()).toEqual(['512'])
    await store.write((tx) => tx.forgetOutcomes(MAIN))
    expect(await redNow()).toEqual([])
    await keep(store, { ...running, build: '513' })
    expect(await redNow()).toEqual([])
    await keep(store, { ...red, build: '513' })
    expect(await redNow()).toEqual(['513'])
  })

  test('the state of a build is read back unchanged, and only by its own ids', async () => {
    await using place = await places().open()
    const place512 = { attempt: 2, cardNumber: 3, branch: 'feature/ログイン' }
    const build = { ...place512, rawStatus: 'Success', at: T0 + HOUR, buildUuid: UUID, committer: 'ada' }
    await keep(place.store, build)
    const { read } = place.store
    expect(await read.build(WEB, '512')).toEqual(known(build))
    expect(await read.build(API, '512')).toBeNull()
    expect(await read.build('4', '1512')).toBeNull()
    expect(await read.build(WEB, '513')).toBeNull()
  })

  test('a later state replaces the earlier one', async () => {
    await using place = await places().open()
    await keep(place.store, { ...running, branch: null }, { attempt: 2, revisionKey: 'another', at: T0 + 1 })
    expect(await place.store.read.build(WEB, '512')).toEqual(known({ attempt: 2, revisionKey: 'another', at: T0 + 1 }))
    expect(await place.store.read.runningBuilds(null, 10)).toEqual([])
    expect(idsOf([(await place.store.read.newestBuild(WEB, 'main'))!])).toEqual(['41/512'])
  })

  test('the newest build is the one with the greatest number, in all branches or in one', async () => {
    await using place = await places().open()
    const main = ['9', '10', '9007199254740993', '9007199254740992', '18446744073709551615']
    await keep(
      place.store,
      ...main.map((build, i) => ({ build, at: T0 - i })),
      { build: '9007199254740994', branch: 'fix/login' },
      { build: '9999999999999999999', project: API },
      { build: '18446744073709551616', branch: null },
    )
    const { read } = place.store
    expect((await read.newestBuild(WEB))?.buildId).toBe('18446744073709551616')
    expect((await read.newestBuild(WEB, 'main'))?.buildId).toBe('18446744073709551615')
    expect((await read.newestBuild(WEB, 'fix/login'))?.buildId).toBe('9007199254740994')
    expect((await read.newestBuild(API, 'main'))?.buildId).toBe('9999999999999999999')
    expect(await read.newestBuild(API, 'fix/login')).toBeNull()
    expect(await read.newestBuild(WEB, 'Main')).toBeNull()
    expect(await read.newestBuild('4')).toBeNull()
  })

  test('neighbouring numbers beyond 2^53 are different', async () => {
    await using place = await places().open()
    await keep(place.store, { build: '9007199254740993' }, { build: '9007199254740992' })
    expect((await place.store.read.newestBuild(WEB))?.buildId).toBe('9007199254740993')
  })

  test('running builds come newest first, of some projects or all, up to a limit', async () => {
    await using place = await places().open()
    await keep(
      place.store,
      { build: '1', ...running, at: T0 },
      { build: '2', ...running, at: T0 + HOUR },
      { build: '3', ...running, at: T0 + MINUTE, project: API },
      { build: '4', at: T0 + 2 * HOUR },
      { build: '5', status: 'waiting', rawStatus: 'waiting', at: T0 + 2 * HOUR },
    )
    const { read } = place.store
    expect(idsOf(await read.runningBuilds(null, 10))).toEqual(['41/2', '42/3', '41/1'])
    expect(idsOf(await read.runningBuilds(null, 2))).toEqual(['41/2', '42/3'])
    expect(idsOf(await read.runningBuilds({ only: [WEB] }, 10))).toEqual(['41/2', '41/1'])
    expect(idsOf(await read.runningBuilds({ only: [WEB, API, '43'] }, 10))).toEqual(['41/2', '42/3', '41/1'])
    expect(await read.runningBuilds({ only: ['43'] }, 10)).toEqual([])
    expect(await read.runningBuilds({ only: [] }, 10)).toEqual([])
  })

  test('waiting builds come newest first, of some projects or all, up to a limit', async () => {
    await using place = await places().open()
    const waiting = { status: 'waiting', rawStatus: 'waiting' } as const
    await keep(
      place.store,
      { build: '1', ...waiting, at: T0 },
      { build: '2', ...waiting, at: T0 + HOUR },
      { build: '3', ...waiting, at: T0 + MINUTE, project: API },
      { build: '4', ...running, at: T0 + 2 * HOUR },
      { build: '5', ...waiting },
      { build: '5', at: T0 + 2 * HOUR },
    )
    const { read } = place.store
    expect(idsOf(await read.waitingBuilds(null, 10))).toEqual(['41/2', '42/3', '41/1'])
    expect(idsOf(await read.waitingBuilds(null, 2))).toEqual(['41/2', '42/3'])
    expect(idsOf(await read.waitingBuilds({ only: [API, '43'] }, 10))).toEqual(['42/3'])
    expect(await read.waitingBuilds({ only: [] }, 10)).toEqual([])
  })

  test('the red builds of a committer are those after which no newer build of the branch has an outcome', async () => {
    await using place = await places().open()
    const red = { status: 'failed', rawStatus: 'error', committer: 'ada' } as const
    await keep(
      place.store,
      { ...red, build: '9', at: T0 },
      { ...red, build: '8' },
      { ...red, build: '1', branch: 'machine', status: 'infrastructure_failure', at: T0 + HOUR },
      { ...red, build: '2', branch: 'fixed' },
      { build: '3', branch: 'fixed', committer: 'grace' },
      { ...red, build: '4', branch: 'under way', at: T0 - 2 },
      { ...running, build: '5', branch: 'under way' },
      { ...red, build: '6', branch: 'of grace', committer: 'grace', at: T0 + 2 * HOUR },
      { ...red, build: '7', branch: 'of nobody', committer: null },
      { build: '10', branch: 'green', committer: 'ada' },
      { ...red, build: '11', branch: 'stopped', status: 'stopped', at: T0 - 3 },
      { ...red, build: '12', project: API, at: T0 - 1 },
    )
    const { read } = place.store
    expect(idsOf(await read.redBuildsOf(['ada'], 10))).toEqual(['41/1', '41/9', '42/12', '41/4'])
    expect(idsOf(await read.redBuildsOf(['ada', 'grace'], 2))).toEqual(['41/6', '41/1'])
    expect(idsOf(await read.redBuildsOf(['lin'], 10))).toEqual([])
    expect(await read.redBuildsOf([], 10)).toEqual([])
    expect(idsOf(await read.redBuilds({ only: ['42'] }, 10))).toEqual(['42/12'])
    expect(idsOf(await read.redBuilds({ only: ['41', '42'] }, 2))).toEqual(['41/6', '41/1'])
  })

  test('the newest build of each project comes with the newest event first, and all are counted', async () => {
    await using place = await places().open()
    const { read } = place.store
    await hearOf(place.store, web(), ...['42', '43', '44'].map((id) => web({ projectId: projectId(id) })))
    await keep(
      place.store,
      { build: '9', at: T0 + HOUR },
      { build: '10', at: T0 + 1 },
      { project: API, build: '7', at: T0 + 2 },
      { project: '43', build: '8', at: T0 },
      { project: '99', build: '8', at: T0 + 3 },
    )
    const found = async (projects: Projects, limit = 9) => {
      const builds = await read.newestBuilds(projects, limit)
      return [...idsOf(builds), await read.countNewest(projects, 9)]
    }
    expect(await found({ except: [] })).toEqual(['42/7', '41/10', '43/8', 3])
    expect(await found({ except: [] }, 1)).toEqual(['42/7', 3])
    expect(await found({ except: ['42'] })).toEqual(['41/10', '43/8', 2])
    expect(await found({ only: ['43', '41', '44'] })).toEqual(['41/10', '43/8', 2])
    expect(await found({ only: [] })).toEqual([0])
    expect(await read.countNewest({ except: [] }, 2)).toBe(2)
    await place.store.write((tx) => tx.forgetBuild(WEB, '10'))
    expect(await found({ only: [WEB] })).toEqual(['41/9', 1])
  })

  test('a branch is red by its last outcome, and stays so while that build is run again', async () => {
    await using place = await places().open()
    const { read } = place.store
    await hearOf(place.store, web(), ...['42', '43', '44'].map((id) => web({ projectId: projectId(id) })))
    await keep(
      place.store,
      { build: '9', status: 'failed' },
      { project: '42', build: '8', status: 'failed' },
      { project: '42', build: '9', ...running },
      { project: '43', build: '8', ...running },
      { project: '44', build: '8' },
      { project: '99', build: '8', status: 'failed' },
    )
    const branch = { projectId: projectId('43'), branchKey: branchKey(projectId('43'), 'main') }
    await place.store.write((tx) => tx.saveStreak(streak(branch)))
    const found = async (projects: Projects) => {
      const others = await read.newestBuilds(projects, 9, 'not-red')
      expect(await read.countNewest(projects, 9, 'not-red')).toBe(others.length)
      return [await read.countRed(projects, 9), ...idsOf(others).toSorted()]
    }
    expect(await found({ except: [] })).toEqual([3, '42/9', '44/8'])
    expect(await found({ except: ['42'] })).toEqual([2, '44/8'])
    expect(await found({ only: ['43', '44'] })).toEqual([1, '44/8'])
    expect(await read.countRed({ except: [] }, 2)).toBe(2)
    expect(await read.countNewest({ except: [] }, 1, 'not-red')).toBe(1)
    await place.store.write((tx) => tx.saveStreak(streak({ ...branch, endedAt: T0 })))
    expect(await found({ except: [] })).toEqual([2, '42/9', '43/8', '44/8'])
  })

  test('what lists leave out is not the newest of its project, nor red, whatever came in which order', async () => {
    await using place = await places().open()
    const { read } = place.store
    const statuses = ['failed', 'success', 'started', 'stopped', 'infrastructure_failure', 'waiting'] as const
    let seed = 7
    const pick = <One>(all: readonly One[]): One => all[(seed = (seed * 48271) % 2147483647) % all.length]!
    const branches = ['main', 'next', null, 'main · nightly', 'main · merge queue', 'v1 · tag']
    await hearOf(place.store, web(), web({ projectId: projectId(API) }))
    const state = new Map<string, KnownBuild>()
    const open = new Map<string, Streak>()
    const isBuilt = (key: string) => [...state.values()].some((one) => branchKey(one.projectId, one.branch) === key)
    for (let round = 0; round < 300; round++) {
      const [project, build] = [pick([WEB, API]), pick(['1', '2', '3', '4', '5', '10', '20', '30'])]
      const key = `${project}/${build}`
      if (pick([1, 2, 3, 4, 5, 6]) === 1) {
        await place.store.write((tx) => tx.forgetBuild(project, build))
        state.delete(key)
      } else {
        const branch = state.get(key) ? state.get(key)!.branch : pick(branches)
        const one = known({ project, build, branch, status: pick(statuses), at: T0 + round })
        await place.store.write((tx) => tx.saveBuild(one))
        state.set(key, one)
      }
      const [id, branch] = [projectId(project), pick(branches)]
      const begun = streak({ id: `${round}`, branchKey: branchKey(id, branch), projectId: id, branch: branch ?? '' })
      if (branch !== null && isBuilt(begun.branchKey) && !open.has(begun.branchKey)) open.set(begun.branchKey, begun)
      for (const [of, one] of open) {
        const endedAt = !isBuilt(of) || pick([1, 2, 3, 4, 5]) === 1 ? T0 : null
        await place.store.write((tx) => tx.saveStreak({ ...one, endedAt }))
        if (endedAt !== null) open.delete(of)
      }
      const all = [...state.values()]
      const isLater = (a: KnownBuild, b: KnownBuild) => a.projectId === b.projectId && a.buildOrder > b.buildOrder
      const isOutcome = ({ status }: KnownBuild) => ['success', 'failed', 'infrastructure_failure'].includes(status)
      const red = all.filter(
        (one) =>
          isOutcome(one) &&
          one.status !== 'success' &&
          hasStreak(one.branch ?? '') &&
          !all.some((other) => isOutcome(other) && isLater(other, one) && other.branch === one.branch),
      )
      const newest = all.filter((one) => !all.some((other) => isLater(other, one)))
      expect(idsOf(await read.redBuilds({ except: [] }, 99)).toSorted()).toEqual(idsOf(red).toSorted())
      const builds = await read.newestBuilds({ except: [] }, 99)
      expect(idsOf(builds).toSorted()).toEqual(idsOf(newest).toSorted())
      const branchesLeft = await redBranches(read, { except: [] }, 99)
      expect(await read.countRed({ except: [] }, 99)).toBe(branchesLeft.length)
      const others = idsOf(builds).filter((one) => !idsOf(branchesLeft).includes(one))
      expect(idsOf(await read.newestBuilds({ except: [] }, 99, 'not-red'))).toEqual(others)
      expect(await read.countNewest({ except: [] }, 99, 'not-red')).toBe(others.length)
    }
  })

  test('the last builds of a branch are those with the greatest numbers, up to a limit', async () => {
    await using place = await places().open()
    const builds = ['9', '10', '100'].map((build, n) => ({ build, at: T0 - n }))
    await keep(place.store, ...builds, { build: '101', branch: 'next' }, { build: '999', project: API })
    const { read } = place.store
    expect(idsOf(await read.lastBuilds(WEB, 'main', 2))).toEqual(['41/100', '41/10'])
    expect(idsOf(await read.lastBuilds(WEB, 'main', 10))).toEqual(['41/100', '41/10', '41/9'])
    expect(await read.lastBuilds(WEB, 'gone', 10)).toEqual([])
  })

  test("a committer's name is compared without case", async () => {
    await using place = await places().open()
    await keep(place.store, { status: 'failed', committer: ' ÅSA@Acme.example' })
    expect((await place.store.read.redBuildsOf(['Åsa@acme.example '], 10)).map(({ committer }) => committer)).toEqual([
      'åsa@acme.example',
    ])
  })

  test('a build that is no longer red is not among the red builds', async () => {
    await using place = await places().open()
    await keep(place.store, { status: 'failed', committer: 'ada' }, { attempt: 2, committer: 'ada' })
    expect(await place.store.read.redBuildsOf(['ada'], 10)).toEqual([])
  })

  test('the branches of a project come newest build first, each once, up to a limit', async () => {
    await using place = await places().open()
    await keep(
      place.store,
      { build: '9', branch: 'main' },
      { build: '1000', branch: 'main' },
      { build: '999', branch: 'fix/login' },
      { build: '10', branch: 'old' },
      { build: '2000', branch: null },
      { build: '3000', branch: 'elsewhere', project: API },
    )
    expect(await place.store.read.branchesOf(WEB, 10)).toEqual(['main', 'fix/login', 'old'])
    expect(await place.store.read.branchesOf(WEB, 2)).toEqual(['main', 'fix/login'])
    expect(await place.store.read.branchesOf('43', 10)).toEqual([])
  })

  test('builds are found by number in all projects with deliveries, newest first', async () => {
    await using place = await places().open()
    await hearOf(place.store, web(), web({ projectId: projectId(API), name: 'api' }))
    await keep(place.store, { at: T0 }, { project: API, at: T0 + 1 }, { build: '1512' }, { project: '43' })
    const { read } = place.store
    expect(idsOf(await read.buildsByNumber('512', 10))).toEqual(['42/512', '41/512'])
    expect(await read.buildsByNumber('512', 1)).toHaveLength(1)
    expect(await read.buildsByNumber('51', 10)).toEqual([])
  })

  test('a number is found even with more projects than one statement queries', async () => {
    await using place = await places().open()
    const projects = several(1_001, (i) => web({ projectId: projectId(String(i + 1)) }))
    await hearOf(place.store, ...projects)
    await keep(place.store, { project: '1001' }, { project: '1' })
    expect(idsOf(await place.store.read.buildsByNumber('512', 10)).sort()).toEqual(['1/512', '1001/512'])
  })

  test('a build is found by its uuid; if two builds have it, the newer one', async () => {
    await using place = await places().open()
    await keep(
      place.store,
      { build: '512', buildUuid: UUID },
      { build: '513', buildUuid: UUID, at: T0 + 1 },
      { build: '514' },
    )
    const { read } = place.store
    expect((await read.buildByUuid(UUID))?.buildId).toBe('513')
    expect(await read.buildByUuid(toUuid('00000000-0000-0000-0000-000000000000'))).toBeNull()
  })

  test('the revisions after a build are those of newer builds of its branch that finished or have several attempts', async () => {
    await using place = await places().open()
    const at = (build: string, change: Partial<KnownBuild> = {}) => ({ build, revisionKey: `of-${build}`, ...change })
    const failed = { status: 'failed', rawStatus: 'error' } as const
    await keep(
      place.store,
      at('511'),
      at('512'),
      at('513', failed),
      at('1000'),
      at('514', { attempt: 2 }),
      at('515', running),
      at('516', { branch: 'fix/login' }),
      at('517'),
    )
    const { read } = place.store
    const after = (limit: number) => read.revisionsAfter(MAIN, idOrder('512'), limit)
    expect(await after(10)).toEqual([
      { revisionKey: 'of-513', hasRed: true },
      { revisionKey: 'of-514', hasRed: true },
      { revisionKey: 'of-517', hasRed: false },
      { revisionKey: 'of-1000', hasRed: false },
    ])
    expect((await after(2)).map(({ revisionKey }) => revisionKey)).toEqual(['of-513', 'of-514'])
    expect(await read.revisionsAfter(MAIN, idOrder('1000'), 10)).toEqual([])
  })

  test('projects with deliveries have their latest names', async () => {
    await using place = await places().open()
    const api = web({ projectId: projectId(API), name: 'api', fullName: null, projectUuid: null })
    await hearOf(place.store, web(), api, web({ name: 'site', projectUuid: null, at: T0 + 1 }))
    expect(await place.store.read.deliveredProjects({ except: [] }, 'asc', 9)).toEqual([
      web({ name: 'site', projectUuid: null, at: T0 + 1 }),
      api,
    ])
  })

  test('a project that was only looked up is known, and when it delivered is not forgotten', async () => {
    await using place = await places().open()
    await hearOf(place.store, web({ at: 0 }))
    const { read } = place.store
    expect(await read.deliveredProjects({ except: [] }, 'asc', 9)).toEqual([web({ at: 0 })])
    await hearOf(place.store, web({ at: T0 }), web({ at: 0 }), web({ at: T0 - 1 }))
    expect(await read.deliveredProjects({ except: [] }, 'asc', 9)).toEqual([web({ at: T0 })])
  })

  test('the builds of a project are found by several numbers at once', async () => {
    await using place = await places().open()
    await keep(place.store, { build: '512' }, { build: '513' }, { build: '514' })
    const { read } = place.store
    const found = await read.buildsOf(WEB, ['512', '514', '999'])
    expect(idsOf(found).toSorted()).toEqual([`${WEB}/512`, `${WEB}/514`])
    expect(await read.buildsOf(API, ['512'])).toEqual([])
    expect(await read.buildsOf(WEB, [])).toEqual([])
  })

  test('a message of the bot is recognised by its channel and timestamp', async () => {
    await using place = await places().open()
    await place.store.write(async (tx) => {
      await tx.insertMessage(claimed({ key: 'a', ts: TS, state: 'posted' }))
      await tx.insertMessage(
        claimed({ key: 'b', slot: 'run:512.1', ts: messageTs('1772460000.000200'), state: 'posted' }),
      )
      await tx.insertMessage(claimed({ key: 'c', slot: 'run:512.2', ts: null }))
    })
    const { read } = place.store
    expect(await read.subjectOf(BUILDS, TS)).toBe(CARD.subject)
    expect(await read.subjectOf(BUILDS, messageTs('1772460000.000200'))).toBe(CARD.subject)
    expect(await read.subjectOf(RELEASES, TS)).toBeNull()
    expect(await read.subjectOf(BUILDS, messageTs('1772460000.000300'))).toBeNull()
  })
}
