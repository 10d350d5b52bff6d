import { isFinal, toStatus } from '../../../../src/domain/builds/status.ts'
import type { BuildSnapshot } from '../../../sandbox-ci/src/snapshot.ts'
import { isAccepted, isTaken } from '../panel/ci-shown.ts'
import type { Sent } from '../service/service.ts'

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

/**
 * What CI has sent, build by build, in the order of the builds. A build of which nothing was sent is left out.
 * @param namesAttempts whether what is sent says which attempt it is about
 */
export function sentBuilds(
  builds: readonly BuildSnapshot[],
  deliveries: readonly Sent[],
  namesAttempts: boolean,
): SentBuild[] {
  const byBuild = Map.groupBy(deliveries, ({ project, buildId }) => `${project} #${buildId}`)
  return builds.flatMap((build) => {
    const own = byBuild.get(`${build.project} #${build.id}`)
    return own ? [{ ...sentBuild(build, own), isAmbiguous: !namesAttempts && own.some(looksLikeRestart) }] : []
  })
}

function sentBuild(build: BuildSnapshot, own: readonly Sent[]): Omit<SentBuild, 'isAmbiguous'> {
  const newest = own.at(-1)!
  const ended = build.runs.filter(({ finishedAt }) => finishedAt !== null)
  const told = own.filter(isEnd).length
  return {
    build: { ...build, status: newest.status, runs: ended.slice(0, told) },
    isTaken: own.every(isTaken),
    takenAt: takenAts(newest)[0] ?? null,
  }
}

function looksLikeRestart(start: Sent, index: number, own: readonly Sent[]): boolean {
  if (!isStart(start)) return false
  const end = own.slice(index + 1).find(isEnd)
  const endedAt = end && takenAts(end)[0]
  if (endedAt === undefined) return false
  const starts = takenAts(start)
  return starts.some((at, nth) => at > endedAt && (nth > 0 || at - endedAt > LATE_START_MAX_MS))
}

const isStart = ({ status }: Sent): boolean => toStatus(status) === 'started'
const isEnd = ({ status }: Sent): boolean => isFinal(toStatus(status))

const takenAts = ({ attempts }: Sent): number[] => attempts.filter(isAccepted).map(({ at, ms }) => at + ms)
