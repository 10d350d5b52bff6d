import { createLease } from '../../src/alerts/send/lease.ts'
import { createReconciler } from '../../src/alerts/reconciler.ts'
import type { Incarnation, Stage } from '../alerts/stage.ts'
import type { ReconcileDeps } from '../../src/alerts/deps.ts'
import { SECOND } from '../support/build-events.ts'
import type { Ci } from './ci.ts'
import { handsOf, type Hands } from './people.ts'
import type { Scenario } from './scenario.ts'

// The bot's processes: started, paused, killed, and started again.

export interface Processes {
  /** Replaces dead processes when their time has come. */
  keepAlive(after: number): Promise<void>
  living(): readonly Hands[]
  /** Kills all processes. */
  kill(): Promise<void>
  /** Replaces all processes by one that does not die. */
  lastOne(): Promise<Hands>
  deaths(): number
}

interface Place {
  hands: Hands | null
  bornAt: number
  /** it dies at a random step; a process that is only paused now and then lives on, and must do no harm */
  isMortal: boolean
  goOnAt: number | null
  goOn: () => void
}

/** The other processes treat a paused process as dead, and then it comes back. */
const STALL_CHANCE = 0.02
const STALL_MAX_MS = 70 * SECOND
const STALL_AFTER_STEPS_MAX = 40
const HEARD_OUT_MS = 30 * SECOND

export function createProcesses(stage: Stage, scenario: Scenario, ci: Ci): Processes {
  const { random, configured, processes, stalls } = scenario
  const newId = countedIds()
  let deaths = 0
  const places = Array.from({ length: processes }, (_, i): Place => {
    const isMortal = !(stalls && i === processes - 1)
    return { hands: null, bornAt: 0, isMortal, goOnAt: null, goOn: () => {} }
  })

  const live = async (fuse: number) => {
    const process =
      processes > 1 ? await liveAmongOthers(stage, { configured }, fuse) : await stage.live({ configured }, fuse)
    return handsOf(process, ci, newId)
  }

  async function keepPlace(place: Place, after: number): Promise<void> {
    if (place.hands?.process.isDead()) {
      place.hands = null
      place.bornAt = after + scenario.downMs()
      deaths++
    }
    if (!place.hands && place.bornAt <= after)
      place.hands = await live(place.isMortal ? scenario.fuse() : Number.POSITIVE_INFINITY)
    if (!place.isMortal) stall(place, after)
  }

  function stall(place: Place, after: number): void {
    if (place.goOnAt === null && random.chance(STALL_CHANCE)) {
      place.goOn = place.hands!.process.pause(random.between(0, STALL_AFTER_STEPS_MAX))
      place.goOnAt = after + random.between(SECOND, STALL_MAX_MS)
    } else if (place.goOnAt !== null && place.goOnAt <= after) goOn(place)
  }

  function goOn(place: Place): void {
    place.goOnAt = null
    place.goOn()
  }

  async function kill(): Promise<void> {
    if (stalls) await hearOut()
    for (const place of places) {
      place.hands?.process.kill()
      place.hands = null
    }
  }

  // Paused processes finish their calls first. If one makes a call long after the others treated it as dead, and then
  // dies before it can record the call, nobody can know of that call.
  async function hearOut(): Promise<void> {
    for (const place of places) goOn(place)
    await stage.clock.advance(HEARD_OUT_MS)
  }

  return {
    async keepAlive(after) {
      for (const place of places) await keepPlace(place, after)
    },
    living: () => places.flatMap(({ hands }) => (hands && !hands.process.isDead() ? [hands] : [])),
    kill,
    async lastOne() {
      await kill()
      return live(Number.POSITIVE_INFINITY)
    },
    deaths: () => deaths,
  }
}

/** A process that sends only while it holds the lease, as with several processes of the bot. */
async function liveAmongOthers(stage: Stage, changes: Partial<ReconcileDeps>, fuse: number): Promise<Incarnation> {
  const process = stage.embody(changes, fuse)
  const { deps, processId } = process
  const { store, clock, log } = deps
  let terms = 0
  const lease = createLease({
    store,
    clock,
    log,
    syncClock: async () => {},
    monotonic: clock.now,
    newId: () => `${processId}-${++terms}`,
    onTerm(term) {
      const reconciler = createReconciler({ ...deps, term })
      process.reconciler = reconciler
      void reconciler.start()
      term.over.addEventListener('abort', () => void reconciler.stop())
    },
  })
  void lease.start()
  await stage.clock.settle()
  return process
}

const countedIds = () => {
  let n = 0
  return () => `request-${++n}`
}
