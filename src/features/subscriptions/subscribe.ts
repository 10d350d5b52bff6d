import type { ChannelId } from '../../domain/ids.ts'
import { subscriptionSlot, type Follows, type Subscription, following } from '../../domain/subscription.ts'
import { subscribedLine, unsubscribedLine } from '../../slack/messages/subscription.ts'
import type { KeptSubscription, WantedSubscription } from '../../store/records.ts'
import type { Tx } from '../../store/store.ts'
import type { Requester } from '../../catalog/outcomes.ts'
import { findProject } from '../../catalog/projects.ts'
import { isGivenUp, NotAttempted } from '../../store/not-attempted.ts'
import type {
  SubscribeOutcome,
  SubscribeWish,
  UnsubscribeOutcome,
  Foreseen,
  SubscribeDeps,
  SubscriptionDeps,
} from './outcomes.ts'
import { channelFor, isIn } from './channel.ts'
import { isAbout, namedProjects, type Named, shownOf } from '../../catalog/subscriptions.ts'
import { faultsOf, rulesOf } from './wish.ts'
import { typedHours, typedTime } from './remind.ts'
import { announce } from './announce.ts'

/** The most subscriptions of one channel. Beyond that, patterns or another channel are the better way. */
export const SUBSCRIPTIONS_MAX = 50

/**
 * Stores a subscription of the channel, replacing the one to the same branches of the same project; then tells the
 * channel in one line. The same request again changes nothing and posts nothing.
 */
export async function subscribe(deps: SubscribeDeps, wish: SubscribeWish, by: Requester): Promise<SubscribeOutcome> {
  const ended = await keepWish(deps, wish, by)
  if (ended.kind !== 'kept') return ended
  const { kept, was, silent } = ended
  const text = subscribedLine(by.user, kept, was?.subscription ?? null)
  const announced = await announce(deps, { channel: kept.channel, text, user: by.user })
  // The announcement may have shown that the channel is closed.
  const [now] = await shownOf(deps, [kept])
  return { kind: 'subscribed', shown: now!, was, announced, silent }
}

export interface Kept extends Pick<Extract<SubscribeOutcome, { kind: 'subscribed' }>, 'was' | 'silent'> {
  kind: 'kept'
  kept: KeptSubscription
}

/** The same as `subscribe`, but the caller has to tell the channel. */
export async function keepWish(
  deps: SubscribeDeps,
  wish: SubscribeWish,
  by: Requester,
): Promise<Kept | Exclude<SubscribeOutcome, { kind: 'subscribed' }>> {
  const plan = await planOf(deps, wish, by)
  if (plan.kind !== 'plan') return plan
  const { wanted, keepsReminders, about, before } = plan
  const keeping = { wanted, keepsReminders, about, instead: wish.instead ?? null, by, at: deps.clock.now() }
  const ended = await deps.store.write((tx) => keep(tx, keeping))
  if (ended.kind === 'too-many') return ended
  const [shown, was] = await shownOf(deps, [ended.kept, ...(ended.was ? [ended.was] : [])])
  if (ended.kind === 'same') return { kind: 'same', shown: shown! }
  return { kind: 'kept', kept: ended.kept, was: was ?? null, silent: fallsSilent(before, wanted.channel, about) }
}

/** What a wish would change; changes nothing. */
export async function foresee(
  deps: SubscribeDeps,
  wish: SubscribeWish,
  by: Requester,
): Promise<Foreseen | Exclude<SubscribeOutcome, { kind: 'subscribed' | 'too-many' }>> {
  const plan = await planOf(deps, wish, by)
  if (plan.kind !== 'plan') return plan
  const { wanted, before } = plan
  const here = before.filter((one) => one.channel === wanted.channel).filter(isKept)
  const { old, isSame } = placeAmong(here, { ...plan, instead: wish.instead ?? null })
  const [was] = await shownOf(deps, old ? [old] : [])
  return isSame ? { kind: 'same', shown: was! } : { kind: 'would-subscribe', wanted, was: was ?? null }
}

interface Plan extends Pick<Keeping, 'wanted' | 'keepsReminders' | 'about'> {
  kind: 'plan'
  /** all subscriptions in force now */
  before: readonly Subscription[]
}

async function planOf(deps: SubscribeDeps, wish: SubscribeWish, by: Requester) {
  const place = await channelFor(deps, by)
  if (place.kind !== 'channel') return place
  const { channel } = place
  if (wish.isChosen && !(await isIn(deps, by.user, channel))) return { kind: 'not-in-channel', channel } as const
  const faults = faultsOf(wish)
  if (faults.length > 0) return { kind: 'faults', faults } as const
  const found = await findFollows(deps, wish.project)
  if (found.kind !== 'follows') return found
  const zone = wish.remind && (wish.remind.zone ?? (await deps.timeZoneOf(by.user)))
  const wanted = wantedBy(wish, channel, found, zone ?? '')
  const before = await deps.subscriptions()
  const file = before.find((one) => one.source === 'file' && isSamePlace(one, wanted, found.about))
  if (file) return { kind: 'kept-by-file', shown: (await shownOf(deps, [file]))[0]! } as const
  const keepsReminders = wish.remind === undefined
  return { kind: 'plan', wanted, keepsReminders, about: found.about, before } satisfies Plan
}

/** What a name means; `about`: the one project; null for all projects. */
type Found = { kind: 'follows'; follows: Follows; about: Named | null }

async function findFollows({ store }: SubscriptionDeps, text: string) {
  if (isAll(text)) return { kind: 'follows', follows: { what: 'all' }, about: null } satisfies Found
  const named = await findProject(store.read, text)
  if (named.kind !== 'project') return named
  const { projectId, uuid, name } = named.project
  const all = await namedProjects(store.read)
  const about = all.find(
    ({ project }) => project.uuid === uuid && project.projectId === projectId && project.name === name,
  )
  return { kind: 'follows', follows: { what: 'project', name, uuid, projectId }, about: about ?? null } satisfies Found
}

export const isAll = (text: string): boolean => text.trim().toLowerCase() === 'all'

/** @param zone of its reminders */
const wantedBy = (wish: SubscribeWish, channel: ChannelId, { follows }: Found, zone: string): WantedSubscription => ({
  channel,
  follows,
  rules: rulesOf(wish),
  quiet: wish.quiet,
  mention: wish.mention,
  ...(wish.remind && { remind: { ...wish.remind, zone } }),
})

/** Would one replace the other? Compares the projects themselves, not the names and ids known at that time. */
function isSamePlace(one: Subscription, wanted: WantedSubscription, about: Named | null): boolean {
  if (one.channel !== wanted.channel || branchesOf(one) !== branchesOf(wanted)) return false
  return about ? isAbout(one, about) : one.follows.what === 'all'
}

const branchesOf = ({ rules }: Pick<Subscription, 'rules'>): string => subscriptionSlot({ what: 'all' }, rules)

type Ended =
  | { kind: 'kept'; kept: KeptSubscription; was: KeptSubscription | null }
  | { kind: 'same'; kept: KeptSubscription; was: null }
  | { kind: 'too-many'; max: number }

interface Keeping {
  wanted: WantedSubscription
  /** the request does not mention reminders: those of the old subscription stay */
  keepsReminders: boolean
  about: Named | null
  instead: string | null
  by: Requester
  at: number
}

async function keep(tx: Tx, { by, at, ...keeping }: Keeping): Promise<Ended> {
  if (await isGivenUp(tx, by.interactionKey)) throw new NotAttempted('the requester was told that it was interrupted')
  const { channel } = keeping.wanted
  await tx.lockName(`subscriptions of ${channel}`)
  const here = await tx.subscriptionsOf(channel)
  const { wanted, old, others, isSame } = placeAmong(here, keeping)
  if (!old && here.length >= SUBSCRIPTIONS_MAX) return { kind: 'too-many', max: SUBSCRIPTIONS_MAX }
  if (old && isSame) return { kind: 'same', kept: old, was: null }
  for (const { id } of others) await tx.removeSubscription(id)
  const filled = { ...wanted, follows: filledIn(wanted.follows, old?.follows) }
  if (old) await moveTo(tx, old, filled)
  const { kept } = await tx.keepSubscription(filled, { user: by.user, at })
  return { kind: 'kept', kept, was: old ?? null }
}

/** Which of the channel's subscriptions it replaces, and whether it would change nothing. */
function placeAmong(
  here: readonly KeptSubscription[],
  { wanted: said, keepsReminders, about, instead }: Omit<Keeping, 'by' | 'at'>,
) {
  const there = here.filter((one) => one.id !== instead && isSamePlace(one, said, about))
  const [old, ...others] = [...here.filter(({ id }) => id === instead), ...there]
  const wanted = keepsReminders && old?.remind ? { ...said, remind: old.remind } : said
  const isSame = others.length === 0 && !!old && isSamePlace(old, wanted, about) && saysTheSame(old, wanted)
  return { wanted, old, others, isSame }
}

const saysTheSame = (one: WantedSubscription, other: WantedSubscription): boolean => saying(one) === saying(other)

function saying({ rules, quiet, mention, remind }: WantedSubscription): string {
  const events = rules?.map((rule) => (rule.events === 'every' ? 'every' : rule.events.toSorted()))
  return JSON.stringify([events, quiet, mention, ...(remind ? [typedTime(remind.afterMs), typedHours(remind)] : [])])
}

/** Merges the ids of both: a subscription by name alone has ids from now on. */
function filledIn(wanted: Follows, old: Follows | undefined): Follows {
  if (wanted.what !== 'project' || old?.what !== 'project') return wanted
  return { ...wanted, uuid: wanted.uuid ?? old.uuid ?? null, projectId: wanted.projectId ?? old.projectId ?? null }
}

/** A subscription's slot depends on its ids and branches. If they change, moves it to its new slot with its creator. */
async function moveTo(tx: Tx, old: KeptSubscription, { follows, rules }: WantedSubscription): Promise<void> {
  if (subscriptionSlot(old.follows, old.rules) === subscriptionSlot(follows, rules)) return
  await tx.removeSubscription(old.id)
  await tx.keepSubscription({ ...old, follows, rules }, { user: old.createdBy, at: old.createdAt })
}

/** What to remove: a project as people name it or `all`, one subscription by its id, or the only one here. */
interface UnsubscribeWish {
  project: string | null
  id: string | null
}

/** Removes subscriptions of a channel, for a project those of all branches; then tells the channel in one line. */
export async function unsubscribe(
  deps: SubscriptionDeps,
  wish: UnsubscribeWish,
  by: Requester,
): Promise<UnsubscribeOutcome> {
  const place = await channelFor(deps, by)
  if (place.kind !== 'channel') return place
  const { channel } = place
  const inForce = (await deps.subscriptions()).filter((one) => one.channel === channel)
  const here = inForce.filter(isKept)
  const shownHere = () => shownOf(deps, inForce)
  const meant = await meantBy(deps, wish, inForce)
  if (meant.kind === 'no-project' || meant.kind === 'several-projects') return meant
  if (wish.id === null && wish.project === null && here.length > 1) return { kind: 'which', here: await shownHere() }
  const [first] = meant.subscriptions
  const kept = meant.subscriptions.filter(isKept)
  if (first && kept.length === 0 && first.source === 'file')
    return { kind: 'kept-by-file', shown: (await shownOf(deps, [first]))[0]! }
  return removeAll(deps, { kept, channel, by, text: wish.project, shownHere })
}

const isKept = (one: Subscription): one is KeptSubscription => one.source === 'slack' && one.id !== undefined

/** The subscriptions that the wish means. Includes those of the file, so that the answer can mention the file. */
async function meantBy({ store }: SubscriptionDeps, { project, id }: UnsubscribeWish, here: readonly Subscription[]) {
  const those = (isMeant: (one: Subscription) => boolean) =>
    ({ kind: 'subscriptions', subscriptions: here.filter(isMeant) }) as const
  if (id !== null) return those((one) => one.id === id)
  if (project === null) return those(isKept)
  if (isAll(project)) return those(({ follows }) => follows.what === 'all')
  // A project that is not known any more can still be named by its subscription's name.
  const named = those(({ follows }) => follows.what === 'project' && isSameName(follows.name, project))
  const found = await findProject(store.read, project)
  if (found.kind !== 'project') return named.subscriptions.length > 0 ? named : found
  const all = await namedProjects(store.read)
  const about = all.filter(({ project: one }) => one.name === found.project.name && one.uuid === found.project.uuid)
  const ofProject = those((one) => about.some((known) => isAbout(one, known)))
  return ofProject.subscriptions.length > 0 ? ofProject : named
}

const isSameName = (one: string, other: string): boolean => one.trim().toLowerCase() === other.trim().toLowerCase()

interface Removing {
  kept: readonly KeptSubscription[]
  channel: ChannelId
  by: Requester
  text: string | null
  shownHere: () => ReturnType<typeof shownOf>
}

async function removeAll(deps: SubscriptionDeps, removing: Removing): Promise<UnsubscribeOutcome> {
  const { kept, channel, by, text, shownHere } = removing
  const gone = await deps.store.write(async (tx) => {
    const removed = []
    for (const { id } of kept) removed.push(await tx.removeSubscription(id))
    return removed.filter((one) => one !== null)
  })
  // Somebody else was faster, or this same request came before.
  if (gone.length === 0) return { kind: 'not-subscribed', text, here: await shownHere() }
  const removed = await shownOf(deps, gone)
  const announced = await announce(deps, { channel, text: unsubscribedLine(by.user, gone), user: by.user })
  return { kind: 'unsubscribed', removed, announced }
}

/**
 * The default channel, if it got this project (or, for all projects, some of them) only because no other channel
 * follows it, and gets nothing about it once this channel does. Null: no channel loses anything.
 */
export function fallsSilent(
  before: readonly Subscription[],
  channel: ChannelId,
  about: Named | null,
): ChannelId | null {
  const followedBefore = about ? following(before, about.names) : before
  const byDefault = followedBefore.find((one) => one.follows.what === 'unfollowed' && one.channel !== channel)
  return byDefault?.channel ?? null
}
