import type { Project } from '../../domain/project.ts'
import type { Found } from './asked.ts'
import type { Examination } from './readings.ts'

/** So many findings of one check are told one by one; the others are counted. */
export const FINDINGS_MAX = 10

/** The projects as CI lists them now, with their rules; or why they cannot be looked at. */
export async function readProjects({
  projects,
}: Examination): Promise<{ kind: 'projects'; projects: readonly Project[] } | Extract<Found, { kind: 'not-checked' }>> {
  const reading = await projects()
  if (reading.kind === 'none') return { kind: 'not-checked', why: 'no-v2' }
  if (reading.kind === 'trouble') return { kind: 'not-checked', why: 'ci-away' }
  if (reading.value.projects.length === 0) return { kind: 'not-checked', why: 'no-project' }
  return { kind: 'projects', projects: reading.value.projects }
}

export const bounded = (found: readonly Found[]): Found[] =>
  found.length > FINDINGS_MAX
    ? [...found.slice(0, FINDINGS_MAX), { kind: 'more', count: found.length - FINDINGS_MAX }]
    : [...found]
