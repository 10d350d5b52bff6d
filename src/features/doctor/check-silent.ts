import type { LegacyProject, Project } from '../../domain/project.ts'
import type { HeardProject } from '../../store/kept.ts'
import type { Found } from './asked.ts'
import { isTellingUs } from './check-webhooks.ts'
import { bounded, readProjects } from './projects.ts'
import type { Examination } from './readings.ts'

/** CI may be this much ahead of what was heard: a build that began earlier should have been told of long ago. */
export const SILENT_MS_MAX = 60 * 60_000

/** So long a delivery may be under way. */
export const UNDER_WAY_MS_MAX = 2 * 60_000

/** Is there a project that should tell us, builds, and is not heard of? */
export async function checkSilent(examination: Examination): Promise<Found[]> {
  const reading = await readProjects(examination)
  if (reading.kind === 'not-checked') return [reading]
  const heard = await examination.store?.read.heardProjects().catch(() => null)
  if (!heard) return [{ kind: 'not-checked', why: 'store-fails' }]
  const ofLegacy = await examination.legacyProjects()
  const legacy = ofLegacy.kind === 'read' ? ofLegacy.value.projects : []
  const telling = reading.projects.filter(isTellingUs)
  const found = telling.flatMap((project) => silenceOf(project, { heard, legacy, now: examination.clock.now() }) ?? [])
  // What is certain comes first: not all may be told.
  const certain = found.filter(isCertain)
  const all = [...certain, ...found.filter((one) => !isCertain(one))]
  return all.length > 0 ? bounded(all) : [{ kind: 'fine', count: telling.length }]
}

interface Known {
  heard: readonly HeardProject[]
  legacy: readonly LegacyProject[]
  now: number
}

function silenceOf(project: Project, { heard, legacy, now }: Known): Silent | null {
  const old = legacy.find(({ uuid }) => uuid === project.uuid) ?? null
  const lastAt =
    heard
      .filter((one) => isSame(one, project, old))
      .map(({ at }) => at)
      .sort((a, b) => b - a)[0] ?? null
  const builtAt = old && newestBuildAt(old, now - UNDER_WAY_MS_MAX)
  // Without the legacy interface CI does not say whether there is a build at all.
  if (builtAt === null) return old !== null || lastAt !== null ? null : silent(project, lastAt, builtAt)
  return lastAt === null || builtAt - lastAt > SILENT_MS_MAX ? silent(project, lastAt, builtAt) : null
}

const isCertain = ({ lastAt, builtAt }: Silent): boolean => lastAt !== null || builtAt !== null

type Silent = Extract<Found, { kind: 'silent-project' }>

const silent = ({ name }: Project, lastAt: number | null, builtAt: number | null): Silent => ({
  kind: 'silent-project',
  project: name,
  lastAt,
  builtAt,
})

function isSame(heard: HeardProject, { uuid, name }: Project, old: LegacyProject | null): boolean {
  if (heard.projectUuid !== null) return heard.projectUuid === uuid
  if (old) return heard.projectId === old.id
  return [heard.fullName, heard.name].some((one) => one?.toLowerCase() === name.toLowerCase())
}

/** When the newest build before `before` (ms) began or ended; null: there is none. */
function newestBuildAt({ builds }: LegacyProject, before: number): number | null {
  const times = builds.flatMap(({ startedAt, finishedAt }) => [startedAt, finishedAt]).filter((at) => at !== null)
  return times.filter((at) => at <= before).sort((a, b) => b - a)[0] ?? null
}
