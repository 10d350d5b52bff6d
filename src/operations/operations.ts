import type { BadgeClient } from '../ci/badge.ts'
import type { Picture } from '../notify/picture.ts'
import { badge } from './badge.ts'
import { buildStatus, runningBuilds, suggestBranches } from './build-status.ts'
import type { Operations } from './bundle.ts'
import type { ActDeps } from './deed.ts'
import type { DoctorDeps } from './doctor/deps.ts'
import { doctorOperations } from './doctor/operations.ts'
import { explain } from './explain.ts'
import { findBuild, summaryOf } from './find-build.ts'
import type { HomeDeps } from './home/deps.ts'
import { homeOperations } from './home/home.ts'
import { listProjects } from './list-projects.ts'
import type { PersonDeps } from './person/deps.ts'
import { createPersonOperations } from './person/operations.ts'
import type { ProjectDeps } from './project/deps.ts'
import { createProjectOperations } from './project/operations.ts'
import { suggestProjects } from './projects.ts'
import type { Refreshed } from './refresh-projects.ts'
import { restartBuild } from './restart-build.ts'
import { stopBuild } from './stop-build.ts'
import type { SubscriptionDeps } from './subscription/deps.ts'
import { subscriptionOperations } from './subscription/operations.ts'

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
