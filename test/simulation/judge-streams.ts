import type { BuildEvent } from '../../src/domain/builds/build-event.ts'
import { branchKey } from '../../src/domain/builds/revision.ts'
import { placed, streamName, type Place } from './hosted.ts'
import { isRedNaively } from './naive.ts'
import type { Happened } from './oracle.ts'
import type { World } from './simulate.ts'

// Streams once more, from what really started each build: no name of a stream is trusted.

/** The events of the stream that this event is of; those of its build if the stream's builds do not follow one another. */
export function streamEvents(world: World, one: BuildEvent, all: readonly BuildEvent[]): BuildEvent[] {
  const place = placeOf(world, one)
  if (place && WITHOUT_STREAK.has(place.event)) return all.filter(({ buildId }) => buildId === one.buildId)
  return all.filter((other) => isSamePlace(placeOf(world, other), place) && isSameBranch(one, other))
}

const WITHOUT_STREAK = new Set(['merge_group'])

/** Whose builds of one commit share a card. */
const SHARING = new Set(['push', 'merge_request_event'])

const isSamePlace = (a: Place | null, b: Place | null): boolean =>
  a === b || (a?.event === b?.event && a?.branch === b?.branch && a?.request === b?.request)

const isSameBranch = (a: BuildEvent, b: BuildEvent): boolean => a.projectId === b.projectId && a.branch === b.branch

/** Where a build ran; null for the CI service, whose streams are branches. */
function placeOf({ scenario }: World, { buildId, projectId }: { buildId: string; projectId: string }): Place | null {
  const isOwn = ({ place, said }: { place?: Place; said: { build?: string } }) =>
    said.build === buildId && place?.project === projectId
  const place = scenario.chapters.flatMap(({ builds }) => builds.truth).find(isOwn)?.place
  return place && projectId.includes(':') ? place : null
}

/** A card has builds of one stream and, where they do not share cards, of one build. A stream is red if its newest is. */
export function judgeStreams(world: World, { buildEvents, requests }: Happened): string[] {
  return [...judgeSharing(world), ...judgeRed(world, buildEvents, requests), ...judgeJobs(world, buildEvents)]
}

/** What the jobs of a build's last end say of it is known, if it differs from the run's own word. */
function judgeJobs({ scenario, chapterEnds }: World, buildEvents: readonly BuildEvent[]): string[] {
  const { truth } = scenario.chapters.at(-1)!.builds
  const lasts = [...Map.groupBy(truth, ({ said }) => said.build).values()].map((own) => own.at(-1)!)
  return lasts.flatMap(({ said: { build, word }, jobs }) => {
    const received = buildEvents.filter(({ buildId, seq }) => buildId === build && seq > (chapterEnds.at(-1) ?? 0))
    const isEndReceived = received.findLast(({ details }) => !details.end?.isWhole)?.rawStatus === word
    const isRead = received.some(({ rawStatus, details: { end } }) => end?.isWhole && rawStatus === jobs?.word)
    return !jobs || jobs.word === word || !isEndReceived || isRead ? [] : [`the jobs of ${build} were not read`]
  })
}

interface Row {
  projectId: string
  buildId: string
  branchKey: string
  card: string
}

function judgeSharing(world: World): string[] {
  const rows = world.stage.sql(`select distinct project_id as projectId, build_id as buildId, branch_key as branchKey,
    lineage_key || '/' || episode as card from fact`) as Row[]
  return [...Map.groupBy(rows, ({ card }) => card).values()].flatMap(([first, ...others]) => {
    const place = placeOf(world, first!)
    const isAlone = place !== null && !SHARING.has(place.event)
    const stranger = others.find(
      (one) => !isSamePlace(placeOf(world, one), place) || (isAlone && one.buildId !== first!.buildId),
    )
    return stranger ? [`${first!.buildId} of ${place?.event} shares its card with ${stranger.buildId}`] : []
  })
}

function judgeRed(world: World, buildEvents: readonly BuildEvent[], requests: Happened['requests']): string[] {
  const open = world.stage.sql('select branch_key as branchKey from breakage where ended_at is null') as Row[]
  const stored = world.stage.sql('select distinct branch_key as branchKey from fact') as Row[]
  const [isOpen, isStored] = [open, stored].map((rows) => new Set(rows.map((row) => row.branchKey)))
  const places = new Set(buildEvents.flatMap((one) => placeOf(world, one) ?? []))
  return [...places].flatMap((place) => {
    const { project, event, branch } = place
    const stream = placed(place).branch
    const known = buildEvents.filter((one) => one.projectId === project && isSamePlace(placeOf(world, one), place))
    const key = branchKey(known[0]!.projectId, stream)
    const isGone = world.scenario.chapters.some(({ gone }) => gone.has(streamName(project, stream)))
    const isRed = !WITHOUT_STREAK.has(event) && !isGone && isStored!.has(key) && isRedNaively(known, requests)
    return isOpen!.has(key) === isRed ? [] : [`${project}: ${event} on ${branch} is ${isRed ? 'not ' : ''}known as red`]
  })
}
