import type { FieldFault } from '../../domain/rules/rule.ts'
import {
  type SubscriptionDeps,
  announce,
  channelFor,
  openChannelFor,
  type Announced,
  type CannotPost,
} from './channel.ts'
import type { ChannelId } from '../../domain/ids.ts'
import type { ProjectRef } from '../../domain/ci-project/project-names.ts'
import { branchIn } from '../../domain/builds/stream.ts'
import {
  coversAny,
  following,
  type Follows,
  type ProjectNames,
  type Subscription,
  subscriptionSlot,
} from '../../domain/rules/subscription.ts'
import { followersOf, knownBranches } from '../../projects/followers.ts'
import { nearest } from '../../lib/nearest.ts'
import { subscribedLine, unsubscribedLine } from '../../slack/messages/subscription.ts'
import type { StoredSubscription, NewSubscription } from '../../store/records.ts'
import type { Reads, Tx } from '../../store/store.ts'
import type { Refused, Requester, ProjectNotFound } from '../../projects/outcomes.ts'
import { refuseGivenUp } from '../../store/not-attempted.ts'
import {
  findFollowed,
  findNamed,
  namesProject,
  type Named,
  shownOf,
  type ShownSubscription,
} from '../../projects/subscriptions.ts'
import { faultsOf, isAll, rulesOf, type SubscribeInput } from './subscribe-input.ts'
import { typedHours, typedTime } from './remind.ts'

export type SubscribeOutcome =
  | {
      kind: 'subscribed'
      shown: ShownSubscription
      was: ShownSubscription | null
      /** the channel's subscription to all projects, which no longer counts for this one */
      over: Subscription | null
      announced: Announced
      /** the default channel, if it gets nothing about this any more; null: it still does, or never did */
      silent: ChannelId | null
      /** null: some known branch matches, or none is known yet */
      unmatched: Unmatched | null
    }
  /** exactly this subscription exists already */
  | { kind: 'same'; shown: ShownSubscription }
  /** the subscriptions file or DEFAULT_CHANNEL sets it */
  | { kind: 'set-elsewhere'; shown: ShownSubscription }
  | { kind: 'too-many'; max: number }
  | { kind: 'no-channel' }
  | CannotPost
  | { kind: 'faults'; faults: readonly FieldFault[] }
  | ProjectNotFound
  | Refused

/** Branches of the project are known, and none matches: it waits for one. */
export interface Unmatched {
  branch: string
  /** null: all projects */
  project: string | null
  /** a known branch that was probably meant */
  nearest: string | null
}

/** A wish that would change something in the channel. */
export interface Foreseen {
  kind: 'would-subscribe'
  subscription: NewSubscription
  /** the subscription that it would replace */
  was: ShownSubscription | null
}

/** The subscriptions to remove: of a project as people name it or `all`, one by its id, or the only one here. */
export interface UnsubscribeWish {
  project: string | null
  id: string | null
}

export type UnsubscribeOutcome =
  | { kind: 'unsubscribed'; removed: readonly ShownSubscription[]; announced: Announced }
  /** the channel has no such subscription; `here`: those that it has */
  | { kind: 'not-subscribed'; text: string | null; here: readonly ShownSubscription[] }
  /** the channel has several, and the request did not say which */
  | { kind: 'which'; here: readonly ShownSubscription[] }
  | { kind: 'set-elsewhere'; shown: ShownSubscription }
  | { kind: 'no-channel' }
  | ProjectNotFound
  | Refused

/** The most subscriptions of one channel. Beyond that, patterns or another channel are better. */
export const SUBSCRIPTIONS_MAX = 50

/**
 * Stores a subscription of the channel, replacing the one to the same branches of the same project; then announces it
 * in the channel. A repeated request changes nothing and posts nothing.
 */
export async function subscribe(
  deps: SubscriptionDeps,
  input: SubscribeInput,
  by: Requester,
): Promise<SubscribeOutcome> {
  const place = await openChannelFor(deps, by)
  if (place.kind !== 'channel') return place
  const ended = await subscribeUnannounced(deps, input, by, place.channel)
  if (ended.kind !== 'saved') return ended
  const { saved, was, over, silent, unmatched } = ended
  const text = subscribedLine(by.user, saved, was?.subscription ?? null, over)
  const announced = await announce(deps, { channel: saved.channel, text, user: by.user })
  // The announcement may have shown that the channel is closed.
  const [now] = await shownOf(deps, [saved])
  return { kind: 'subscribed', shown: now!, was, over, announced, silent, unmatched }
}

/** Why a wish is refused, in a channel that the requester may change. */
export type Unmade = Exclude<SubscribeOutcome, Refused | { kind: 'subscribed' | 'no-channel' | 'cannot-post' }>

export interface SavedSubscription extends Pick<
  Extract<SubscribeOutcome, { kind: 'subscribed' }>,
  'was' | 'over' | 'silent' | 'unmatched'
> {
  kind: 'saved'
  saved: StoredSubscription
}

/** The same as `subscribe`, in a channel that the requester may change; the caller has to tell the channel. */
export async function subscribeUnannounced(
  deps: SubscriptionDeps,
  input: SubscribeInput,
  by: Requester,
  channel: ChannelId,
): Promise<SavedSubscription | Unmade> {
  const plan = await planOf(deps, input, by, channel)
  if (plan.kind !== 'plan') return plan
  const at = deps.clock.now()
  const ended = await deps.store.write((tx) => save(tx, plan, by, at))
  if (ended.kind === 'too-many') return ended
  const [shown, was] = await shownOf(deps, [ended.saved, ...(ended.was ? [ended.was] : [])])
  if (ended.kind === 'same') return { kind: 'same', shown: shown! }
  const silent = await fallsSilent(deps.store.read, { ...plan, saved: ended.saved })
  const unmatched = await unmatchedBy(deps.store.read, input, plan.about?.project ?? null)
  return { kind: 'saved', saved: ended.saved, was: was ?? null, over: overruled(plan), silent, unmatched }
}

/** The channel's subscription to all projects, if the new one is its first to this project. */
function overruled({ before, about, subscription: { channel } }: Plan): Subscription | null {
  if (!about) return null
  return following(before, about.names).find((one) => one.channel === channel && one.follows.what !== 'project') ?? null
}

/** Previews a wish in a channel that the requester may change; changes nothing. */
export async function foresee(
  deps: SubscriptionDeps,
  input: SubscribeInput,
  by: Requester,
  channel: ChannelId,
): Promise<Foreseen | Exclude<Unmade, { kind: 'too-many' }>> {
  const plan = await planOf(deps, input, by, channel)
  if (plan.kind !== 'plan') return plan
  const { subscription, before } = plan
  const here = before.filter((one) => one.channel === subscription.channel).filter(isMadeInSlack)
  const { old, isSame } = findReplaced(here, plan)
  const [was] = await shownOf(deps, old ? [old] : [])
  return isSame ? { kind: 'same', shown: was! } : { kind: 'would-subscribe', subscription, was: was ?? null }
}

interface Plan {
  kind: 'plan'
  wish: SubscribeInput
  subscription: NewSubscription
  /** the one project; null for all projects */
  about: Named | null
  /** all subscriptions in force now */
  before: readonly Subscription[]
}

async function planOf(deps: SubscriptionDeps, input: SubscribeInput, by: Requester, channel: ChannelId) {
  const faults = faultsOf(input)
  if (faults.length > 0) return { kind: 'faults', faults } as const
  const found = isAll(input.project) ? null : await findFollowed(deps.store.read, input.project)
  if (found && found.kind !== 'project') return found
  const zone = input.remind && (input.remind.zone ?? (await deps.timeZoneOf(by.user)))
  const subscription: NewSubscription = {
    channel,
    follows: found ? followsOf(found) : { what: 'all' },
    rules: rulesOf(input),
    quiet: input.quiet,
    mention: input.mention,
    ...(input.details && { details: input.details }),
    ...(input.remind && { remind: { ...input.remind, zone: zone ?? '' } }),
  }
  const before = await deps.subscriptions()
  const file = before.find((one) => one.source === 'file' && isSameSlot(one, subscription, found))
  if (file) return { kind: 'set-elsewhere', shown: (await shownOf(deps, [file]))[0]! } as const
  return { kind: 'plan', wish: input, subscription, about: found, before } satisfies Plan
}

async function unmatchedBy(
  reads: Reads,
  { branch, branchMatch }: SubscribeInput,
  project: ProjectRef | null,
): Promise<Unmatched | null> {
  if (!branch) return null
  const streams = await knownBranches(reads, project)
  if (streams.length === 0 || coversAny([{ branch, branchMatch, events: 'every' }], streams)) return null
  const meant = branchMatch === 'exact' ? nearest(branch, [...new Set(streams.map(branchIn))]) : null
  return { branch, project: project?.name ?? null, nearest: meant }
}

const followsOf = ({ project: { name, uuid, projectId } }: Named): Follows => ({
  what: 'project',
  name,
  uuid,
  projectId,
})

/** Whether one would replace the other. Compares the projects themselves, not the names and ids known at that time. */
function isSameSlot(one: Subscription, subscription: NewSubscription, about: Named | null): boolean {
  if (one.channel !== subscription.channel || branchesOf(one) !== branchesOf(subscription)) return false
  return about ? namesProject(one, about) : one.follows.what === 'all'
}

const branchesOf = ({ rules }: Pick<Subscription, 'rules'>): string => subscriptionSlot({ what: 'all' }, rules)

async function save(tx: Tx, plan: Plan, { user, interactionKey }: Requester, at: number) {
  await refuseGivenUp(tx, interactionKey)
  const { channel } = plan.subscription
  await tx.lockName(`subscriptions of ${channel}`)
  const here = await tx.subscriptionsOf(channel)
  const { subscription, old, others, isSame } = findReplaced(here, plan)
  if (!old && here.length >= SUBSCRIPTIONS_MAX) return { kind: 'too-many', max: SUBSCRIPTIONS_MAX } as const
  if (old && isSame) return { kind: 'same', saved: old, was: null } as const
  for (const { id } of others) await tx.removeSubscription(id)
  const filled = { ...subscription, follows: filledIn(subscription.follows, old?.follows) }
  if (old) await moveTo(tx, old, filled)
  const { saved } = await tx.saveSubscription(filled, { user, at })
  return { kind: 'saved', saved, was: old ?? null } as const
}

/** Which of the channel's subscriptions it replaces, and whether it would change nothing. */
function findReplaced(here: readonly StoredSubscription[], { wish: input, subscription: requested, about }: Plan) {
  const { instead } = input
  const there = here.filter((one) => one.id !== instead && isSameSlot(one, requested, about))
  const [old, ...others] = [...here.filter(({ id }) => id === instead), ...there]
  // A request that does not mention reminders leaves those of the old subscription.
  const subscription = input.remind === undefined && old?.remind ? { ...requested, remind: old.remind } : requested
  const isSame =
    others.length === 0 && !!old && isSameSlot(old, subscription, about) && settingsOf(old) === settingsOf(subscription)
  return { subscription, old, others, isSame }
}

/** Equal for two subscriptions that post the same builds of their branches in the same way. */
function settingsOf({ rules, quiet, mention, details = 'lines', remind }: NewSubscription): string {
  const events = rules?.map((rule) => (rule.events === 'every' ? 'every' : rule.events.toSorted()))
  return JSON.stringify([
    events,
    quiet,
    mention,
    details,
    ...(remind ? [typedTime(remind.afterMs), typedHours(remind)] : []),
  ])
}

/** Merges the ids of both, so that a subscription by name alone gets ids. */
function filledIn(wanted: Follows, old: Follows | undefined): Follows {
  if (wanted.what !== 'project' || old?.what !== 'project') return wanted
  return { ...wanted, uuid: wanted.uuid ?? old.uuid ?? null, projectId: wanted.projectId ?? old.projectId ?? null }
}

/** A subscription's slot depends on its ids and branches. If they change, moves it to its new slot with its creator. */
async function moveTo(tx: Tx, old: StoredSubscription, { follows, rules }: NewSubscription): Promise<void> {
  if (subscriptionSlot(old.follows, old.rules) === subscriptionSlot(follows, rules)) return
  await tx.removeSubscription(old.id)
  await tx.saveSubscription({ ...old, follows, rules }, { user: old.createdBy, at: old.createdAt })
}

/** Removes subscriptions of a channel, for a project those of all branches; then announces it in the channel. */
export async function unsubscribe(
  deps: SubscriptionDeps,
  wish: UnsubscribeWish,
  by: Requester,
): Promise<UnsubscribeOutcome> {
  const place = await channelFor(deps, by)
  if (place.kind !== 'channel') return place
  const { channel } = place
  const inForce = (await deps.subscriptions()).filter((one) => one.channel === channel)
  const meant = await meantBy(deps, wish, inForce)
  if (meant.kind !== 'subscriptions') return meant
  const isAnyMeant = wish.id === null && wish.project === null
  if (isAnyMeant && meant.subscriptions.length > 1) return { kind: 'which', here: await shownOf(deps, inForce) }
  const removable = meant.subscriptions.filter(isMadeInSlack)
  const [fixed] = isAnyMeant ? inForce : meant.subscriptions
  if (removable.length === 0 && fixed && fixed.source !== 'slack')
    return { kind: 'set-elsewhere', shown: (await shownOf(deps, [fixed]))[0]! }
  const removed = await deps.store.write((tx) => removeAll(tx, removable, by))
  // Another person was faster, or this is a repeated request.
  if (removed.length === 0) return { kind: 'not-subscribed', text: wish.project, here: await shownOf(deps, inForce) }
  const shown = await shownOf(deps, removed)
  const announced = await announce(deps, { channel, text: unsubscribedLine(by.user, removed), user: by.user })
  return { kind: 'unsubscribed', removed: shown, announced }
}

const isMadeInSlack = (one: Subscription): one is StoredSubscription => one.source === 'slack' && one.id !== undefined

/** The subscriptions that the wish means, including those of the file, so that the answer can mention the file. */
async function meantBy({ store }: SubscriptionDeps, { project, id }: UnsubscribeWish, here: readonly Subscription[]) {
  const those = (isMeant: (one: Subscription) => boolean) =>
    ({ kind: 'subscriptions', subscriptions: here.filter(isMeant) }) as const
  if (id !== null) return those((one) => one.id === id)
  if (project === null) return those(isMadeInSlack)
  if (isAll(project)) return those(({ follows }) => follows.what === 'all')
  // A project that is not known any more can still be named by its subscription's name.
  const named = those(({ follows }) => follows.what === 'project' && isSameName(follows.name, project))
  const whole = await findFollowed(store.read, project)
  const isWhole = whole.kind === 'project' && here.some((one) => namesProject(one, whole))
  const found = isWhole || whole.kind === 'no-project' ? whole : await findNamed(store.read, project)
  if (found.kind !== 'project') return named.subscriptions.length > 0 ? named : found
  const ofProject = those((one) => namesProject(one, found))
  return ofProject.subscriptions.length > 0 ? ofProject : named
}

const isSameName = (one: string, other: string): boolean => one.trim().toLowerCase() === other.trim().toLowerCase()

async function removeAll(
  tx: Tx,
  those: readonly StoredSubscription[],
  { interactionKey }: Requester,
): Promise<StoredSubscription[]> {
  await refuseGivenUp(tx, interactionKey)
  const removed = []
  for (const { id } of those) removed.push(await tx.removeSubscription(id))
  return removed.filter((one) => one !== null)
}

/**
 * The default channel, if it got this project (or, for all projects, some of them) only because no other channel
 * follows it, and gets nothing about it once this channel does. Null: no channel loses anything.
 */
export async function fallsSilent(
  reads: Parameters<typeof followersOf>[0],
  { before, about, saved }: { before: readonly Subscription[]; about: Named | null; saved: Subscription },
): Promise<ChannelId | null> {
  const byDefault = async (all: readonly Subscription[]) =>
    (await followersOf(reads, all, about?.names ?? UNNAMED)).find((one) => one.follows.what === 'unfollowed')
  const lost = await byDefault(before)
  return lost && lost.channel !== saved.channel && !(await byDefault([...before, saved])) ? lost.channel : null
}

/** Stands for all projects: only subscriptions to all of them, and the default channel's, follow it. */
const UNNAMED: ProjectNames = { projectId: '', projectUuid: null, names: [] }
