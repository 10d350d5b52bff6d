import { CiError } from '../../src/ci/errors.ts'
import { toUuid, type Uuid } from '../../src/domain/ids.ts'
import { parseRunRef } from '../../src/domain/request.ts'
import type { CardView } from '../../src/domain/view.ts'
import type { ActDeps } from '../../src/operations/act.ts'
import { confirmRequests } from '../../src/operations/confirm-requests.ts'
import { restartBuild } from '../../src/operations/restart-build.ts'
import { stopBuild } from '../../src/operations/stop-build.ts'
import type { Incarnation, Stage } from '../reconcile/stage.ts'
import { buildId, LIN, SECOND, T0, type Said } from '../support/facts.ts'
import type { Random } from './random.ts'
import type { Scenario } from './scenario.ts'

// People who press buttons on whatever cards they see, and the CI that they act on.

/** What CI was asked to do, call by call: `stop 512`. */
export interface Ci extends Pick<ActDeps, 'v2' | 'legacy'> {
  calls: string[]
}

/** CI's answers come late, or not; what it does shows in deliveries, later still. */
const ANSWERS_WITHIN_MS = 2 * SECOND
const SHOWS_WITHIN_MS = 20 * SECOND

/** The acme/web of every simulation is Basic: both interfaces know it. acme/api is not listed at all. */
export const BASIC = {
  uuid: toUuid('41000000-0000-0000-0000-000000000000'),
  name: 'acme/web',
  legacyId: '41',
  type: 'basic',
  rules: null,
  filter: null,
}

export const uuidOfBuild = (build: string): Uuid => toUuid(`00000000-0000-0000-0000-${build.padStart(12, '0')}`)

/** @param deliver what CI delivers so many ms after the beginning */
export function openCi(
  { clock }: Stage,
  { random, deliveries }: Scenario,
  deliver: (after: number, said: Said) => void,
): Ci {
  const calls: string[] = []
  const anew = new Map<string, Said>()
  const placeOf = (build: string) => anew.get(build) ?? deliveries.find(({ said }) => said.build === build)!.said
  const soon = () => random.between(0, SHOWS_WITHIN_MS)

  /** Takes its time, and does it or does not, and says so or does not. */
  async function answer<T>(name: string, act: () => T): Promise<T> {
    calls.push(name)
    await clock.sleep(random.between(0, ANSWERS_WITHIN_MS))
    const fate = random.pick(['done', 'done', 'done', 'refused', 'lost', 'done but lost'])
    if (fate === 'refused') throw new CiError({ kind: 'not-found', status: 404, purpose: name })
    const done = fate === 'lost' ? null : act()
    if (done === null || fate === 'done but lost') throw new CiError({ kind: 'timeout', isWrite: true, purpose: name })
    return done
  }

  const since = () => clock.now() - T0

  function runAgain(build: string): string {
    const again = random.chance(0.5) ? build : String(600 + anew.size)
    const { after: _, ...place } = placeOf(build)
    const said = { ...place, build: again, details: { ...place.details, buildUuid: uuidOfBuild(again) } }
    if (again !== build) anew.set(again, said)
    const startsAt = since() + soon()
    if (random.chance(0.8)) deliver(startsAt, { ...said, word: 'initiated' })
    if (random.chance(0.8)) deliver(startsAt + soon(), { ...said, word: random.pick(['success', 'error', 'stopped']) })
    return again
  }

  return {
    calls,
    v2: {
      stopBuild: ({ buildUuid }) => {
        const build = String(Number(buildUuid.split('-')[4]))
        return answer(`stop ${build}`, () => deliver(since() + soon(), { ...placeOf(build), word: 'stopped' }))
      },
    },
    legacy: {
      getProject: () => Promise.reject(new CiError({ kind: 'server', status: 500, purpose: 'read a project' })),
      restartBuild: (id) =>
        answer(`restart ${id}`, () => {
          const again = runAgain(id)
          return { id: buildId(again), uuid: random.chance(0.5) ? uuidOfBuild(again) : null }
        }),
    },
  }
}

/** Somebody presses the button of some card, which may be an old one, or say what is so no longer. */
export function press({ slack }: Stage, random: Random, process: Incarnation, ci: Ci, times: number): void {
  const cards = slack.messages.filter(({ view }) => view.kind === 'card' && view.offers.length > 0)
  if (cards.length === 0) return
  const { channel, view } = random.pick(cards)
  const { ref, offers } = view as CardView
  const act = random.pick(offers) === 'stop' ? stopBuild : restartBuild
  const by = { user: LIN, team: null, channel, via: 'button' } as const
  // Twice at once: a double click, or two people.
  for (let i = 0; i < times; i++)
    void act(actDeps(process, ci), { kind: 'run', ref: parseRunRef(ref)! }, { ...by, askKey: `press ${++presses}` })
}

let presses = 0

const actDeps = ({ deps, reconciler }: Incarnation, { v2, legacy }: Ci): ActDeps => ({
  store: deps.store,
  clock: deps.clock,
  log: deps.log,
  wake: reconciler.wake,
  newId: () => `request-${++presses}`,
  processId: deps.processId,
  interfaces: deps.interfaces,
  v2,
  legacy,
  permits: async () => ({ kind: 'yes' }),
})

/** What no delivery ends is ended after its time; nobody can look CI up here. */
export const lookAfter = ({ deps, reconciler }: Incarnation): Promise<void> =>
  confirmRequests({ ...deps, wake: reconciler.wake, legacy: null })
