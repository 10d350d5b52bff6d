import { setImmediate as nextTurn } from 'node:timers/promises'
import { joinProjects, namedExactly, type ProjectRef } from '../domain/ci-project/project-names.ts'
import { together } from '../lib/async.ts'
import { NEAREST_KNOWN_MAX, nearest } from '../lib/nearest.ts'
import type { DeliveredProject, KnownProject, NameSearch, Projects } from '../store/records.ts'
import type { Reads, Store } from '../store/store.ts'
import { CHOICES_MAX } from '../slack/messages/ids.ts'
import { NAMESAKES_MAX, namesOf, followersOf } from './followers.ts'
import type { ProjectNotFound, Requester, Where } from './outcomes.ts'
import { following, nameKey, type Subscription } from '../domain/rules/subscription.ts'
import { repositoryOf, sourceOf, type ChannelId, type ProjectId } from '../domain/ids.ts'
import type { Memberships } from '../slack/api/directory.ts'

/** The store's name for when the last complete reading began. Projects last read before then are gone from CI. */
export const WHOLE_READING = 'refresh-projects'

/**
 * The projects with one of these as their uuid, id or name, each with all its names, and others of the same names: CI's
 * list and deliveries are joined. @param keys in lower case
 */
export async function projectsAs(reads: Reads, keys: readonly string[]): Promise<ProjectRef[]> {
  return joined(reads, await namedAs(reads, keys))
}

interface Found {
  listed: readonly KnownProject[]
  delivered: readonly DeliveredProject[]
}

async function namedAs(reads: Reads, keys: readonly string[]): Promise<Found> {
  const both = together([reads.listedAs(keys, NAMESAKES_MAX), reads.deliveredAs(keys, NAMESAKES_MAX)])
  const [listed, delivered] = await both
  return { listed, delivered }
}

async function joined(reads: Reads, found: Found): Promise<ProjectRef[]> {
  const keys = [...found.listed.flatMap(listedKeys), ...found.delivered.flatMap(deliveredKeys)]
  if (keys.length === 0) return []
  const others = await namedAs(reads, keys)
  return joinProjects(
    distinct([...found.listed, ...others.listed], ({ uuid }) => uuid).map(ofListed),
    distinct([...found.delivered, ...others.delivered], ({ projectId }) => projectId).map(ofDelivered),
  )
}

const distinct = <One>(all: readonly One[], idOf: (one: One) => string): One[] => [
  ...new Map(all.map((one) => [idOf(one), one])).values(),
]

// Names are compared for the CI service only: see `joinProjects`.
const listedKeys = ({ uuid, legacyId, name }: KnownProject): string[] =>
  present([uuid, legacyId, sourceOf(legacyId) === 'ci' ? name.toLowerCase() : null])

const deliveredKeys = ({ projectId, projectUuid, ...names }: DeliveredProject): string[] =>
  present([projectId, projectUuid, ...(sourceOf(projectId) === 'ci' ? nameKeys(names) : [])])

const nameKeys = ({ name, fullName }: Pick<DeliveredProject, 'name' | 'fullName'>): string[] =>
  present([name, fullName]).map((one) => one.toLowerCase())

const present = <One>(all: readonly (One | null | undefined)[]): One[] =>
  all.filter((one): one is One => one !== null && one !== undefined)

/** The most projects that one search looks at, of CI's list and of deliveries each. */
export const SEARCHED_MAX = 100

/** The projects whose names have this text, those of CI's list first. */
export async function searchProjects(reads: Reads, { text, at }: NameSearch): Promise<ProjectRef[]> {
  const all = await searched(reads, { text, at })
  const wanted = text.toLowerCase()
  return all.filter(({ name }) => HAS[at](name.toLowerCase(), wanted)).slice(0, SEARCHED_MAX)
}

const HAS = {
  begin: (name: string, text: string) => name.startsWith(text),
  last: (name: string, text: string) => name.endsWith(`/${text}`),
  whole: (name: string, text: string) => `${name} `.startsWith(`${text} `),
  anywhere: (name: string, text: string) => name.includes(text),
}

async function searched(reads: Reads, search: NameSearch): Promise<ProjectRef[]> {
  const listed = await reads.searchListed(search, SEARCHED_MAX)
  // No others are shown.
  if (listed.length === SEARCHED_MAX) return joined(reads, { listed, delivered: [] })
  // There is no index for the middle of names, so a search reads all of them, which on SQLite blocks all other work.
  await nextTurn()
  const delivered = await reads.searchDelivered(search, SEARCHED_MAX)
  await nextTurn()
  return joined(reads, { listed, delivered })
}

/**
 * The one project that a text names: by uuid, else by id, else by full name, else by the last part of the name (`web` of
 * `acme/web`), else by a part that only its name contains. Case does not matter.
 */
export async function findProject(
  reads: Reads,
  text: string,
): Promise<{ kind: 'project'; project: ProjectRef } | ProjectNotFound> {
  const [first, ...others] = await matching(reads, text)
  if (!first) {
    const isListRead = (await reads.lastDoneAt(WHOLE_READING)) !== null
    return { kind: 'no-project', text, nearest: await nearestName(reads, text), isListRead }
  }
  if (others.length === 0) return { kind: 'project', project: first }
  const projects = [first, ...others].slice(0, CHOICES_MAX)
  return { kind: 'several-projects', text, projects, more: others.length + 1 - projects.length }
}

async function matching(reads: Reads, text: string): Promise<ProjectRef[]> {
  const called = await projectsCalled(reads, text)
  const wanted = nameKey(text)
  return called.length > 0 || wanted === '' ? called : searchProjects(reads, { text: wanted, at: 'anywhere' })
}

/** The projects with this text as their uuid, else id, else full name, else last part of the name. */
export async function projectsCalled(reads: Reads, text: string): Promise<ProjectRef[]> {
  const wanted = nameKey(text)
  if (wanted === '') return []
  const exact = namedExactly(await projectsAs(reads, [wanted]), wanted)
  if (exact.length > 0 || wanted.includes('/')) return exact
  return searchProjects(reads, { text: wanted, at: 'last' })
}

/** Projects whose names begin with a text, then those that contain it; if none does, the one with that uuid or id. */
export async function suggestProjects(reads: Reads, text: string): Promise<ProjectRef[]> {
  const wanted = nameKey(text)
  const begun = await searchProjects(reads, { text: wanted, at: 'begin' })
  const missing = SEARCHED_MAX - begun.length
  const others = missing > 0 && wanted !== '' ? await searchProjects(reads, { text: wanted, at: 'anywhere' }) : []
  const isNew = ({ name }: ProjectRef) => !name.toLowerCase().startsWith(wanted)
  const named = [...begun, ...others.filter(isNew)].slice(0, SEARCHED_MAX)
  return named.length > 0 ? named : namedExactly(await projectsAs(reads, [wanted]), wanted)
}

export interface FollowedDeps {
  store: Pick<Store, 'read'>
  subscriptions: () => Promise<readonly Subscription[]>
}

const EVERY_PROJECT: Projects = { except: [] }

/** This project; none if it has no builds. */
export const onlyOf = ({ projectId }: Pick<ProjectRef, 'projectId'>): Projects => ({
  only: projectId === null ? [] : [projectId],
})

/** The projects that a channel follows; all projects if it follows none. */
export async function followedBy(
  { store, subscriptions }: FollowedDeps,
  channel: ChannelId | null,
): Promise<{ projects: Projects; where: Where }> {
  const projects = await followedIn(store.read, await subscriptions(), (one) => one === channel)
  const isNone = projects === null || ('only' in projects && projects.only.length === 0)
  return isNone ? { projects: EVERY_PROJECT, where: 'everywhere' } : { projects, where: 'channel' }
}

/** The most projects that the lists of one channel tell apart. */
const FOLLOWED_MAX = 5_000

/** The projects that some channels follow, of those that builds have named; null: the channels follow nothing. */
export async function followedIn(
  reads: Reads,
  subscriptions: readonly Subscription[],
  isMeant: (channel: ChannelId) => boolean,
): Promise<Projects | null> {
  const { here = [], elsewhere = [] } = Object.groupBy(subscriptions, ({ channel }) =>
    isMeant(channel) ? 'here' : 'elsewhere',
  )
  if (here.length === 0) return null
  if (follow(here, 'all')) return EVERY_PROJECT
  const named = (await namedBy(reads, here)).map(({ projectId }) => projectId)
  const open = elsewhere.filter(({ closedAt }) => !closedAt)
  if (!follow(here, 'unfollowed') || follow(open, 'all')) return { only: named }
  const own = new Set(named)
  const except: ProjectId[] = []
  for (const project of await namedBy(reads, open))
    if (!own.has(project.projectId) && !(await isByDefault(reads, subscriptions, project)))
      except.push(project.projectId)
  return { except }
}

/** Whether it is the default channel's. */
const isByDefault = async (reads: Reads, subscriptions: readonly Subscription[], project: DeliveredProject) =>
  follow(await followersOf(reads, subscriptions, namesOf(project)), 'unfollowed')

const follow = (subscriptions: readonly Subscription[], what: Subscription['follows']['what']): boolean =>
  subscriptions.some(({ follows }) => follows.what === what)

/** The projects that these subscriptions name, and that builds have named too. */
async function namedBy(reads: Reads, subscriptions: readonly Subscription[]): Promise<DeliveredProject[]> {
  const byKey = Map.groupBy(
    subscriptions.flatMap((one) => followedKeys(one).map((key) => ({ key, one }))),
    ({ key }) => key,
  )
  if (byKey.size === 0) return []
  const delivered = await reads.deliveredAs([...byKey.keys()], FOLLOWED_MAX)
  const isNamed = (project: DeliveredProject) => {
    const { projectId, projectUuid } = project
    const keys = present([projectId, projectUuid, repositoryOf(projectId), ...nameKeys(project)])
    const candidates = keys.flatMap((key) => byKey.get(key) ?? [])
    return following([...new Set(candidates.map(({ one }) => one))], namesOf(project)).length > 0
  }
  return delivered.filter(isNamed)
}

/** What a subscription calls its project, in lower case. */
export const followedKeys = ({ follows }: Pick<Subscription, 'follows'>): string[] =>
  follows.what === 'project'
    ? present([follows.uuid?.toLowerCase(), follows.projectId, ...(follows.ids ?? []), nameKey(follows.name)])
    : []

// People type the last part of a name more often than the whole.
async function nearestName(reads: Reads, text: string): Promise<string | null> {
  const names = [...new Set(await reads.namesAround(nameKey(text), NEAREST_KNOWN_MAX))]
  const lastParts = names.map((name) => name.split('/').at(-1)!)
  const name = nearest(text, names) ?? names[lastParts.indexOf(nearest(text, lastParts) ?? '')]
  if (name === undefined) return null
  // A delivered name may differ from CI's, which takes precedence.
  return namedExactly(await projectsAs(reads, [name]), name)[0]?.name ?? null
}

/** A project with a legacy id and no known type is Basic: the legacy interface lists only those. */
export const ofListed = ({ uuid, name, legacyId, type }: KnownProject): ProjectRef => ({
  projectId: legacyId,
  uuid,
  name,
  type: type ?? (legacyId === null ? null : 'basic'),
})

const ofDelivered = ({ projectId, name, fullName, projectUuid }: DeliveredProject) => ({
  projectId,
  uuid: projectUuid,
  name,
  fullName,
  type: null,
})

export interface VisibleDeps {
  /** the channels that a person can see; null: Slack does not say */
  seenBy: Memberships['seenBy']
}

/**
 * Which channels an answer may name: the one where the person asks, and those that the person can see. What a private
 * channel follows is for its members only. If Slack does not say who can see what, other channels are left out.
 */
export async function visibleTo(
  { seenBy }: VisibleDeps,
  { user, channel }: Pick<Requester, 'user' | 'channel'>,
): Promise<(one: ChannelId) => boolean> {
  const seen = await seenBy(user)
  return (one) => one === channel || (seen?.has(one) ?? false)
}
