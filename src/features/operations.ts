import type { BadgeClient } from '../sources/ci-service/badge.ts'
import type { Picture } from '../slack/picture/picture.ts'
import { badge } from './badge/badge.ts'
import { buildStatus, runningBuilds, suggestBranches } from './builds/status.ts'
import type { Operations } from './bundle.ts'
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

/** Everything the bot can do, in one bundle for its doors. */
export function createOperations(deps: OperationsDeps): Operations {
  const { store, interfaces, subscriptions } = deps
  const find = { reads: store.read, interfaces }
  return {
    listProjects: (question) => listProjects(deps, question),
    status: (question) => buildStatus({ ...find, subscriptions }, question),
    async findBuild(target) {
      const looked = await findBuild(find, target)
      return looked.kind === 'found' ? { kind: 'found', build: await summaryOf(find, looked.found) } : looked
    },
    running: (channel) => runningBuilds({ ...find, subscriptions }, channel),
    stop: (target, by) => stopBuild(deps, target, by),
    restart: (target, by) => restartBuild(deps, target, by),
    badge: (about) => badge({ ...find, badges: deps.badges, draw: deps.draw }, about),
    why: (target, by) => explain({ ...find, subscriptions, seenBy: deps.seenBy }, target, by),
    suggestProjects: (text) => suggestProjects(store.read, text),
    suggestBranches: (project, text) => suggestBranches(find, project, text),
    mayRead: (by) => deps.permits('read', by),
    subscriptions: subscriptionOperations(deps),
    projects: createProjectOperations(deps),
    people: createPersonOperations(deps),
    home: homeOperations(deps),
    doctor: doctorOperations({ ...deps.doctor, permits: deps.permits }),
  }
}
