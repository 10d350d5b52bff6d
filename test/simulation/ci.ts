import { CiError } from '../../src/sources/http/errors.ts'
import { toUuid } from '../../src/domain/ids.ts'
import { NO_DETAILS, type ReceivedEvent } from '../../src/domain/builds/build-event.ts'
import { isFinal, toStatus } from '../../src/domain/builds/status.ts'
import type { ClientLegacy } from '../../src/sources/ci-service/client-legacy.ts'
import type { ClientV2 } from '../../src/sources/ci-service/client-v2.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { buildId, projectId, SECOND, T0, type Said } from '../support/build-events.ts'
import { BASIC, numberOf, uuidOfBuild, type Delivery } from './builds.ts'
import type { Source } from '../../src/sources/source.ts'
import { openHosted, type Gone } from './hosted.ts'
import type { Random } from './random.ts'

/** The CI that people call. It may or may not do what it is asked, and may or may not answer. It knows every build. */
export interface Ci {
  /** the calls that change something: `stop 512` */
  calls: string[]
  /** those of them that CI carried out */
  done: string[]
  v2: Pick<ClientV2, 'stopBuild' | 'listProjects'>
  legacy: Pick<ClientLegacy, 'restartBuild' | 'getProject'>
  hosted: Source
  /** Takes what happens to builds, in order. */
  happen(truth: readonly Delivery[]): void
  /** From now on every call is answered. */
  recover(): void
  /** The current state of the build, in CI's word; null: it has not begun. */
  wordOf(build: string): string | null
  /** Whether the build was then (ms) among the newest of its branch, the only ones that CI shows. */
  shows(build: string, branch: string | null, at: number): boolean
}

/** Answers are late or lost. Their effects are delivered later still, at the latest ECHO_MS after the click. */
const ANSWERS_WITHIN_MS = 2 * SECOND
const SHOWS_WITHIN_MS = 20 * SECOND
export const ECHO_MS = 50 * SECOND

/** CI shows only so many builds of a branch, the newest. */
const SHOWN_MAX = 6

interface CiOptions {
  clock: Clock
  random: Random
  /** see `Chapter.gone` */
  gone: ReadonlyMap<string, Gone>
  /** Sends a delivery at its time. */
  deliver: (delivery: Delivery) => void
}

export function openCi({ clock, random, gone, deliver }: CiOptions): Ci {
  const calls: string[] = []
  const carriedOut: string[] = []
  const truth: Delivery[] = []
  let anew = 0
  let isWell = false
  const since = () => clock.now() - T0
  const soon = () => random.between(0, SHOWS_WITHIN_MS)
  const buildEventsOf = (build: string) => truth.filter(({ said }) => said.build === build)
  const placeOf = (build: string): Said => buildEventsOf(build)[0]!.said

  function happen(deliveries: readonly Delivery[]): void {
    truth.push(...deliveries)
    truth.sort((a, b) => a.after - b.after)
  }

  function tell(delivery: Delivery): void {
    happen([delivery])
    if (random.chance(0.8))
      deliver({ ...delivery, after: delivery.after + random.pick([0, random.between(0, 5 * SECOND)]) })
  }

  /** After a while, does it or not, and answers or not. */
  async function answer<T>(name: string, act: () => T): Promise<T> {
    calls.push(name)
    await clock.sleep(random.between(0, ANSWERS_WITHIN_MS))
    const fate = random.pick(['done', 'done', 'done', 'refused', 'lost', 'done but lost'])
    if (fate === 'refused') throw new CiError({ kind: 'not-found', status: 404, purpose: name })
    const done = fate === 'lost' ? null : act()
    if (fate !== 'lost') carriedOut.push(name)
    if (done === null || fate === 'done but lost') throw new CiError({ kind: 'timeout', isWrite: true, purpose: name })
    return done
  }

  function runAgain(build: string): string {
    const again = random.chance(0.5) ? build : String(600 + anew++)
    const place = placeOf(build)
    const said = { ...place, build: again, details: { ...place.details, buildUuid: uuidOfBuild(again) } }
    const startsAt = since() + soon()
    tell({ after: startsAt, said: { ...said, word: 'initiated' } })
    if (random.chance(0.8))
      tell({ after: startsAt + soon(), said: { ...said, word: random.pick(['success', 'error', 'stopped']) } })
    return again
  }

  async function look<T>(read: () => T): Promise<T> {
    await clock.sleep(random.between(0, ANSWERS_WITHIN_MS))
    const fate = isWell ? 'shown' : random.pick(['shown', 'shown', 'shown', 'away'])
    if (fate === 'away') throw new CiError({ kind: 'server', status: 500, purpose: 'read a project' })
    return read()
  }

  const wordOf = (build: string): string | null =>
    buildEventsOf(build).findLast(({ after }) => after <= since())?.said.word ?? null

  const newestOf = (branch: string | null, until: number): ReceivedEvent[] => {
    const happened = truth.filter(({ after, said }) => after <= until && said.project === BASIC.legacyId)
    const own = happened.filter(({ said }) => branch === null || said.branch === branch)
    const builds = [...Map.groupBy(own, ({ said }) => said.build!).values()].map(shownAs)
    return builds.sort((a, b) => numberOf(b.buildId) - numberOf(a.buildId)).slice(0, SHOWN_MAX)
  }

  return {
    calls,
    done: carriedOut,
    happen,
    wordOf,
    shows: (build, branch, at) => newestOf(branch, at - T0).some(({ buildId: id }) => id === build),
    recover: () => void (isWell = true),
    hosted: openHosted({ clock, random, truth, gone, isWell: () => isWell }),
    v2: {
      listProjects: async () => ({ projects: [], truncated: false, skipped: 0 }),
      stopBuild: ({ buildUuid }) => {
        const { build } = truth.find(({ said }) => uuidOfBuild(said.build!) === buildUuid)!.said
        const stopped = { ...placeOf(build!), word: 'stopped' }
        return answer(`stop ${build}`, () => tell({ after: since() + soon(), said: stopped }))
      },
    },
    legacy: {
      restartBuild: (id) =>
        answer(`restart ${id}`, () => {
          const again = runAgain(id)
          return { id: buildId(again), uuid: random.chance(0.5) ? uuidOfBuild(again) : null }
        }),
      getProject: (id, options) =>
        look(() => {
          if (id !== BASIC.legacyId) throw new CiError({ kind: 'not-found', status: 404, purpose: 'read a project' })
          return {
            id: projectId(id),
            uuid: BASIC.uuid,
            name: BASIC.name,
            builds: newestOf(options?.branch ?? null, since()),
          }
        }),
    },
  }
}

/** How CI shows a build with this history. */
function shownAs(happened: readonly Delivery[]): ReceivedEvent {
  const { said, after } = happened.at(-1)!
  const begun = happened.findLast(({ said: { word } }) => word === 'initiated')
  const { message = null, committer = null } = said.details ?? {}
  return {
    projectId: projectId(said.project!),
    buildId: buildId(said.build!),
    branch: said.branch ?? null,
    commitId: said.commit ?? null,
    rawStatus: said.word,
    details: {
      ...NO_DETAILS,
      buildUuid: toUuid(uuidOfBuild(said.build!)),
      committer,
      message,
      startedAt: begun ? T0 + begun.after : null,
      finishedAt: isFinal(toStatus(said.word)) ? T0 + after : null,
    },
  }
}
