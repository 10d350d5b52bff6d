import { isFinal, toStatus } from '../../../../src/domain/status.ts'
import type { Delivery } from '../../../sandbox-ci/src/deliveries.ts'
import type { BuildSnapshot } from '../../../sandbox-ci/src/snapshot.ts'
import { isAccepted, isTaken } from '../panel/ci-shown.ts'

/** A build as far as CI has told of it. */
export interface SentBuild {
  /** in the state of the newest delivery, with so many ended runs as were delivered */
  build: BuildSnapshot
  /** whether the bot has taken all that was sent of it */
  isTaken: boolean
  /** when it took the newest of it (ms); null: it has not */
  takenAt: number | null
  /** whether a start that was sent again after its end looks like a restart: nothing in the interface tells them apart */
  isAmbiguous: boolean
}

/** A start that arrives so long after the end of its attempt, or a second time after it, begins another attempt. */
const LATE_START_MAX_MS = 60_000

/** What CI has sent, build by build, in the order of the builds. A build of which nothing was sent is left out. */
export function sentBuilds(builds: readonly BuildSnapshot[], deliveries: readonly Delivery[]): SentBuild[] {
  const byBuild = Map.groupBy(deliveries, ({ buildId }) => buildId)
  return builds.flatMap((build) => {
    const own = byBuild.get(build.id)
    return own ? [sentBuild(build, own)] : []
  })
}

function sentBuild(build: BuildSnapshot, own: readonly Delivery[]): SentBuild {
  const newest = own.at(-1)!
  const ended = build.runs.filter(({ finishedAt }) => finishedAt !== null)
  const told = own.filter(isEnd).length
  return {
    build: { ...build, status: newest.status, runs: ended.slice(0, told) },
    isTaken: own.every(isTaken),
    takenAt: takenAts(newest)[0] ?? null,
    isAmbiguous: own.some((delivery, at) => isStart(delivery) && looksLikeRestart(delivery, own.slice(at + 1))),
  }
}

function looksLikeRestart(start: Delivery, later: readonly Delivery[]): boolean {
  const end = later.find(isEnd)
  const endedAt = end && takenAts(end)[0]
  if (endedAt === undefined) return false
  const starts = takenAts(start)
  return starts.some((at, index) => at > endedAt && (index > 0 || at - endedAt > LATE_START_MAX_MS))
}

const isStart = ({ status }: Delivery): boolean => toStatus(status) === 'started'
const isEnd = ({ status }: Delivery): boolean => isFinal(toStatus(status))

const takenAts = ({ attempts }: Delivery): number[] => attempts.filter(isAccepted).map(({ at, ms }) => at + ms)
