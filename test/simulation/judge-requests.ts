import { isOpen, restartRequests, shownBy } from '../../src/domain/cards/request.ts'
import { foldAttempts } from '../../src/domain/builds/attempt.ts'
import { isFinal, toStatus } from '../../src/domain/builds/status.ts'
import { HOUR, T0 } from '../support/build-events.ts'
import { BASIC } from './builds.ts'
import { revisionsOf, type Happened } from './oracle.ts'
import type { World } from './simulate.ts'

/** Every request ends, CI is called at most once for it, and what is confirmed has happened. */
export function judgeRequests(world: World, happened: Happened): string[] {
  const { requests } = happened
  const wrongs = requests.filter(isOpen).map(({ id, state }) => `${id} is ${state} when all is over`)
  // On each card, attempts are numbered from one.
  const cards = revisionsOf(happened).map(({ attempts }) => attempts)
  for (const request of requests)
    if (
      request.state === 'confirmed' &&
      !isDone(world, request) &&
      !cards.some((attempts) => shownBy(request, attempts))
    )
      wrongs.push(`${request.id} is confirmed by nothing`)
  return [...wrongs, ...judgeAsks(requests), ...judgeCalls(world, requests), ...judgeSilence(world, happened)]
}

const isDone = ({ ci: { done } }: World, { action, buildId }: Happened['requests'][number]): boolean =>
  done.includes(`${action} ${buildId}`)

/** An attempt has at most one open request for an action, and is restarted at most once. */
function judgeAsks(requests: Happened['requests']): string[] {
  const same = Map.groupBy(
    requests,
    ({ card, action, buildId, attempt }) => `${action} ${buildId}.${attempt} on a card ${card}`,
  )
  return [...same].flatMap(([name, asks]) => {
    // A request that was given up may be made again, and may be confirmed later by what the second one led to.
    const inOrder = asks.filter(({ code }) => !isGivenUp(code)).toSorted((a, b) => a.requestedAt - b.requestedAt)
    const atOnce = inOrder.some((ask, i) => (inOrder[i - 1]?.endedAt ?? 0) > ask.requestedAt)
    const done = inOrder.filter(({ action, state }) => action === 'restart' && state === 'confirmed')
    return [...(atOnce ? [`asked twice at once: ${name}`] : []), ...(done.length > 1 ? [`done twice: ${name}`] : [])]
  })
}

const GIVEN_UP: readonly (string | null)[] = ['not-restarted', 'still-running', 'cannot-look']
const isGivenUp = (code: string | null): boolean => GIVEN_UP.includes(code)

function judgeCalls({ ci: { calls } }: World, requests: Happened['requests']): string[] {
  const asked = (name: string) => requests.filter(({ action, buildId: build }) => `${action} ${build}` === name).length
  return [...new Set(calls)].flatMap((name) => {
    const times = calls.filter((call) => call === name).length
    return times > asked(name) ? [`CI was called ${times} times to ${name}, and asked to ${asked(name)} times`] : []
  })
}

const SILENT_MS = 3 * HOUR
const LET_BE_MS = 7 * 24 * HOUR

/** After a silent night CI is asked: a build that has ended there must not be shown as running, even undelivered. */
function judgeSilence({ scenario, ci, stage, chapterEnds }: World, { buildEvents, requests }: Happened): string[] {
  const [first, second] = scenario.chapters
  const { legacy } = scenario.configured
  if (!second || !legacy) return []
  const night = second.fromMs - first!.calmAfterMs
  if (night < SILENT_MS || night > LET_BE_MS) return []
  const attempts = foldAttempts(buildEvents, restartRequests(requests))
  const known = buildEvents.filter(({ seq, projectId }) => seq <= chapterEnds[0]! && projectId === BASIC.legacyId)
  return [...Map.groupBy(known, ({ branch }) => branch).values()].flatMap((own) => {
    const builds = [...new Set(own.map(({ buildId }) => buildId))]
    const isSilent = (build: string) =>
      !buildEvents.some(({ buildId, at }) => buildId === build && at >= T0 + second.fromMs)
    return builds
      .filter((build) => isSilent(build) && ci.shows(build, own[0]!.branch, stage.clock.now()))
      .filter((build) => {
        const newest = attempts.findLast(({ buildId }) => buildId === build)!
        const isRunning = newest.status === 'started' || newest.status === 'waiting'
        return isRunning && isFinal(toStatus(ci.wordOf(build)!))
      })
      .map((build) => `${build} is said to go on, and CI says that it is ${ci.wordOf(build)}`)
  })
}
