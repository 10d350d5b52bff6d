import type { Asker, BuildSummary, ListQuestion, NotFound, Target } from '../catalog/outcomes.ts'
import type { ChannelId } from '../domain/ids.ts'
import type { BadgeClient } from '../sources/ci-service/badge.ts'
import type { Picture } from '../slack/picture/picture.ts'
import { badge } from './badge/badge.ts'
import { buildStatus, runningBuilds, suggestBranches } from './builds/status.ts'
import type { ActDeps } from './builds/deed.ts'
import type { DoctorDeps } from './doctor/deps.ts'
import { doctorOperations } from './doctor/operations.ts'
import { explain } from './why/why.ts'
import { findBuild, summaryOf } from '../catalog/find-build.ts'
import type { HomeDeps } from './home/deps.ts'
import { homeOperations } from './home/home.ts'
import { listProjects } from './list/list.ts'
import type { PersonDeps } from './people/deps.ts'
import { createPersonOperations } from './people/operations.ts'
import type { ProjectDeps } from './projects/deps.ts'
import { createProjectOperations } from './projects/operations.ts'
import { suggestProjects } from '../catalog/projects.ts'
import type { Refreshed } from '../catalog/refresh-projects.ts'
import { restartBuild } from './builds/restart.ts'
import { stopBuild } from './builds/stop.ts'
import type { SubscriptionDeps } from './subscriptions/deps.ts'
import { subscriptionOperations } from './subscriptions/operations.ts'

export interface OperationsDeps extends ActDeps, SubscriptionDeps, ProjectDeps, PersonDeps, HomeDeps {
  doctor: DoctorDeps
  refresh: () => Promise<Refreshed>
  badges: BadgeClient | null
  draw: (svg: Uint8Array) => Promise<Picture | null>
}

/** Everything that people can ask of the bot. Commands, buttons, forms and mentions get nothing but this. */
export function createOperations(deps: OperationsDeps) {
  const { store, interfaces, subscriptions } = deps
  const find = { reads: store.read, interfaces }
  return {
    listProjects: (question: ListQuestion) => listProjects(deps, question),
    status: (
      question: { project: string | null; branch: string | null; channel: ChannelId | null } | { target: Target },
    ) => buildStatus({ ...find, subscriptions }, question),
    /** One build, for a choice or a modal. */
    async findBuild(target: Target): Promise<{ kind: 'found'; build: BuildSummary } | NotFound> {
      const looked = await findBuild(find, target)
      return looked.kind === 'found' ? { kind: 'found', build: await summaryOf(find, looked.found) } : looked
    },
    running: (channel: ChannelId | null) => runningBuilds({ ...find, subscriptions }, channel),
    stop: (target: Target, by: Asker) => stopBuild(deps, target, by),
    restart: (target: Target, by: Asker) => restartBuild(deps, target, by),
    badge: (about: { project: string; branch: string | null }) =>
      badge({ ...find, badges: deps.badges, draw: deps.draw }, about),
    why: (target: Target | null, by: Pick<Asker, 'user' | 'channel'>) =>
      explain({ ...find, subscriptions, seenBy: deps.seenBy }, target, by),
    /** Projects whose names begin with or contain the text, for a picker. */
    suggestProjects: (text: string) => suggestProjects(store.read, text),
    suggestBranches: (project: string, text: string) => suggestBranches(find, project, text),
    /** May this person read at all? Guests may, outsiders of shared channels may not. */
    mayRead: (by: Pick<Asker, 'user' | 'team'>) => deps.permits('read', by),
    subscriptions: subscriptionOperations(deps),
    projects: createProjectOperations(deps),
    people: createPersonOperations(deps),
    home: homeOperations(deps),
    doctor: doctorOperations({ ...deps.doctor, permits: deps.permits }),
  }
}

export type Operations = ReturnType<typeof createOperations>
