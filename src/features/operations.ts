import type { Requester, BuildSummary, ListQuery, NotFound, Target, Refused } from '../catalog/outcomes.ts'
import type { ChannelId, Uuid } from '../domain/ids.ts'
import type { BadgeClient } from '../sources/ci-service/badge.ts'
import { findBadge } from './badge/badge.ts'
import { type BreakageDeps, breakageOperations } from './breakages/action.ts'
import { branchesOf, buildStatus, runningBuilds, type StatusQuery } from './builds/status.ts'
import type { ActDeps } from './builds/call-once.ts'
import type { DoctorDeps } from './doctor/findings.ts'
import { doctorOperations } from './doctor/examine.ts'
import { explain } from './why/why.ts'
import type { EndGone } from '../catalog/breakages.ts'
import { createCiLookup } from '../catalog/ci-lookup.ts'
import { findBuild, summaryOf, type FindBuildDeps } from '../catalog/find-build.ts'
import { type HomeDeps, readHome } from './home/home.ts'
import { listProjects } from './list/list.ts'
import { type PersonDeps, createPersonOperations } from './people/people.ts'
import type { ProjectDeps, Begun, Creation, EditInput, PreviewInput } from './projects/outcomes.ts'
import { suggestProjects, findProject, type FollowedDeps } from '../catalog/projects.ts'
import type { Refreshed } from '../catalog/reading.ts'
import { flakyBranches, type FlakyQuery } from './flaky/flaky.ts'
import { act } from './builds/action.ts'
import type { PatternQuery, SubscribeInput, SubscriptionDeps, UnsubscribeWish } from './subscriptions/outcomes.ts'
import { createProject, previewCreation } from './projects/create.ts'
import { editProject, previewEdit } from './projects/edit.ts'
import { refusalToAdminister, showProject } from './projects/read.ts'
import { resetAesKey } from './projects/reset.ts'
import { channelClosed, channelMoved, channelOpened } from './subscriptions/closings.ts'
import { digestOperations, type DigestDeps } from './subscriptions/digest.ts'
import { dryRun, previewPattern, type DryRunQuery } from './subscriptions/dry-run.ts'
import { channelRules } from './subscriptions/channel.ts'
import { importThese, proposeImport } from './subscriptions/import.ts'
import type { Import } from './values.ts'
import { subscribe, unsubscribe } from './subscriptions/subscribe.ts'

export interface OperationsDeps
  extends ActDeps, SubscriptionDeps, DigestDeps, ProjectDeps, PersonDeps, HomeDeps, BreakageDeps {
  doctor: DoctorDeps
  refresh: () => Promise<Refreshed>
  badges: BadgeClient | null
  draw: (svg: Uint8Array) => Promise<Uint8Array | null>
}

/** Everything that people can request. Commands, buttons, forms and mentions use only these operations. */
export function createOperations(deps: OperationsDeps) {
  const orAskCi = createCiLookup(deps)
  const stored: FindBuildDeps & FollowedDeps & { endGone: EndGone } = deps
  return {
    /** For commands that only read what is stored. */
    stored,
    listProjects: (query: ListQuery) => listProjects(deps, query),
    status: (query: StatusQuery) => orAskCi(() => buildStatus(deps, query)),
    /** One build, for a choice or a modal. */
    async findBuild(target: Target): Promise<{ kind: 'found'; build: BuildSummary } | NotFound> {
      const result = await orAskCi(() => findBuild(deps, target))
      return result.kind === 'found' ? { kind: 'found', build: await summaryOf(deps, result.found) } : result
    },
    running: (channel: ChannelId | null) => runningBuilds(deps, channel),
    stop: (target: Target, by: Requester) => orAskCi(() => act(deps, 'stop', target, by)),
    restart: (target: Target, by: Requester) => orAskCi(() => act(deps, 'restart', target, by)),
    badge: (about: { project: string; branch: string | null }) => orAskCi(() => findBadge(deps, about)),
    flaky: (query: FlakyQuery) => orAskCi(() => flakyBranches(deps, query)),
    why: (target: Target | null, by: Pick<Requester, 'user' | 'channel'>) => orAskCi(() => explain(deps, target, by)),
    /** Projects whose names begin with or contain the text, for a picker. */
    suggestProjects: (text: string) => suggestProjects(deps.store.read, text),
    branchesOf: (project: string) => branchesOf(deps, project),
    /** May this person read at all? Guests may, outsiders of shared channels may not. */
    mayRead: (by: Pick<Requester, 'user' | 'team'>) => deps.permits('read', by),
    mayOperate: (by: Pick<Requester, 'user' | 'team'>) => deps.permits('operate', by),
    subscriptions: subscriptionOperations(deps),
    digests: digestOperations(deps),
    projects: createProjectOperations(deps),
    people: createPersonOperations(deps),
    breakages: breakageOperations(deps),
    home: (user: string, team: string | null) => readHome(deps, user, team),
    doctor: doctorOperations({ ...deps.doctor, permits: deps.permits }),
  }
}

export type Operations = ReturnType<typeof createOperations>

/** Everything that can be done with a project. */
export const createProjectOperations = (deps: ProjectDeps) => ({
  /** The known project that a text names. */
  find: (text: string) => findProject(deps.store.read, text),
  /** Reads the project from CI now; if CI cannot be reached, as it was last read. */
  show: (project: string, by: Pick<Requester, 'user' | 'team'>) => showProject(deps, project, by),
  /** May this person create, edit and reset? */
  mayAdminister: async (by: Pick<Requester, 'user' | 'team'>): Promise<{ kind: 'yes' } | Refused> =>
    (await refusalToAdminister(deps, by)) ?? { kind: 'yes' },
  /** Only the CI service's projects are created, and through its v2 interface. */
  canCreate: deps.ci !== null,
  /** What would change; sends nothing. */
  preview: (input: PreviewInput, by: Requester) => previewEdit(deps, input, by),
  /** Read, change, write back in full, read again, compare. At most one write for one request. */
  edit: (input: EditInput, by: Requester, begun: Begun) => editProject(deps, input, by, begun),
  /** Whether a project of that name exists already; creates nothing. */
  previewCreation: (creation: Creation, by: Requester) => previewCreation(deps, creation, by),
  create: (creation: Creation, by: Requester, options: { evenIfThere: boolean; begun: Begun }) =>
    createProject(deps, creation, by, options),
  resetAesKey: (project: Uuid, by: Requester, begun: Begun) => resetAesKey(deps, project, by, begun),
})

/** Everything that people can do with the subscriptions of channels. */
const subscriptionOperations = (deps: SubscriptionDeps) => ({
  /** Replaces the subscription to the same branches of the same project; one line tells the channel. */
  subscribe: (input: SubscribeInput, by: Requester) => subscribe(deps, input, by),
  unsubscribe: (input: UnsubscribeWish, by: Requester) => unsubscribe(deps, input, by),
  /** The subscriptions that a pasted list of GitHub's Slack app stands for; changes nothing. */
  proposeImport: (pasted: string, by: Requester) => proposeImport(deps, pasted, by),
  /** Subscribes to what was proposed; one line tells the channel. */
  importThese: (these: Import, by: Requester) => importThese(deps, these, by),
  rules: (channel: ChannelId | null) => channelRules(deps, channel),
  dryRun: (query: DryRunQuery, by: Pick<Requester, 'user' | 'channel'>) => dryRun(deps, query, by),
  preview: (query: PatternQuery) => previewPattern(deps, query),
  maySubscribe: (by: Pick<Requester, 'user' | 'team'>) => deps.permits('subscribe', by),
  /** Slack says that the bot cannot post in a channel any more: messages wait, and its owners are told. */
  channelClosed: (channel: ChannelId, code: string) => channelClosed(deps, channel, code),
  /** Slack says that the bot can post there again: what waited goes out. */
  channelOpened: (channel: ChannelId) => channelOpened(deps, channel),
  /** Slack has given a channel another id. */
  channelMoved: (from: ChannelId, to: ChannelId) => channelMoved(deps, from, to),
})
