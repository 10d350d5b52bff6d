import { toUuid, type BuildId, type ProjectId } from '../../src/domain/ids.ts'
import type { LegacyProject, Project, ProjectList } from '../../src/domain/project.ts'

export const HOUR = 60 * 60_000
export const BUILD_STATUSES = ['started', 'failed', 'success', 'recovered']

const uuidOf = (n: number) => toUuid(`0a1b2c3d-0000-4000-8000-${String(n).padStart(12, '0')}`)

/** So many projects, each with a webhook rule for these events, or none with a rule if there are no events. */
export const projectList = (count: number, events: readonly string[]): ProjectList<Project> => ({
  projects: Array.from({ length: count }, (_, at): Project => ({
    uuid: uuidOf(at + 1),
    name: `acme/p${at + 1}`,
    type: 'basic',
    id: null,
    rules: [],
    raw: { notification_rules: events.length === 0 ? [] : [ruleFor(events)] },
  })),
  truncated: false,
  skipped: 0,
})

const ruleFor = (events: readonly string[]) => ({
  notifier: 'webhook',
  build_statuses: events,
  options: { url: 'https://bot.example/webhooks/builds/s' },
})

/** The first of these projects, with a build that began at this time (ms), or without builds. */
export const legacyList = (startedAt: number | null): ProjectList<LegacyProject> => ({
  projects: [
    {
      id: '1' as ProjectId,
      uuid: uuidOf(1),
      name: 'acme/p1',
      builds:
        startedAt === null
          ? []
          : [
              {
                id: '501' as BuildId,
                uuid: null,
                projectId: '1' as ProjectId,
                status: 'initiated',
                branch: 'main',
                commitId: null,
                committer: null,
                message: null,
                startedAt,
                finishedAt: null,
              },
            ],
    },
  ],
  truncated: false,
  skipped: 0,
})
