import type { ChannelId } from '../../domain/ids.ts'
import { subscriptionSlot, type Follows, type Subscription } from '../../domain/subscription.ts'
import { subscribedLine } from '../../slack/messages/subscription.ts'
import type { KeptSubscription, WantedSubscription } from '../../store/kept.ts'
import type { Tx } from '../../store/store.ts'
import type { Asker } from '../../catalog/outcomes.ts'
import { findProject } from '../../catalog/projects.ts'
import { isGivenUp, NotAttempted } from '../../store/not-attempted.ts'
import { announce } from './announce.ts'
import type { SubscribeOutcome, SubscribeWish } from './outcomes.ts'
import { fallsSilent } from './default-channel.ts'
import type { SubscribeDeps, SubscriptionDeps } from './deps.ts'
import { isAbout, namedProjects, type Named } from './names.ts'
import { shownOf } from './shown.ts'
import { channelFor, isIn } from './who.ts'
import { faultsOf, rulesOf } from './wish.ts'

/** A channel follows so much at most; more is a wish for fewer rules, or for another channel. */
export const SUBSCRIPTIONS_MAX = 50

/**
 * Keeps what a channel wants to follow, in the place of what followed the same branches of the same project there; then
 * tells the channel in one line. Asked again, it changes nothing and says nothing.
 */
export async function subscribe(deps: SubscribeDeps, wish: SubscribeWish, by: Asker): Promise<SubscribeOutcome> {
  const place = await channelFor(deps, by)
  if (place.kind !== 'channel') return place
  if (wish.isChosen && !(await isIn(deps, by.user, place.channel)))
    return { kind: 'not-in-channel', channel: place.channel }
  const faults = faultsOf(wish)
  if (faults.length > 0) return { kind: 'faults', faults }
  const found = await findFollows(deps, wish.project)
  if (found.kind !== 'follows') return found
  const wanted = wantedBy(wish, place.channel, found)
  const before = await deps.subscriptions()
  const file = before.find((one) => one.source === 'file' && isSamePlace(one, wanted, found.about))
  if (file) return { kind: 'kept-by-file', shown: (await shownOf(deps, [file]))[0]! }
  const keeping = { wanted, about: found.about, instead: wish.instead ?? null, by, at: deps.clock.now() }
  const ended = await deps.store.write((tx) => keep(tx, keeping))
  if (ended.kind === 'too-many') return ended
  const [shown, was] = await shownOf(deps, [ended.kept, ...(ended.was ? [ended.was] : [])])
  if (ended.kind === 'same') return { kind: 'same', shown: shown! }
  const announced = await announce(deps, {
    channel: place.channel,
    text: subscribedLine(by.user, ended.kept, ended.was),
    user: by.user,
  })
  // The channel may have turned out to be closed.
  const [now] = await shownOf(deps, [ended.kept])
  const silent = fallsSilent(before, place.channel, found.about)
  return { kind: 'subscribed', shown: now!, was: was ?? null, announced, silent }
}

/** What a name stands for; `about`: the one project, null for all of them. */
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

const wantedBy = (wish: SubscribeWish, channel: ChannelId, { follows }: Found): WantedSubscription => ({
  channel,
  follows,
  rules: rulesOf(wish),
  quiet: wish.quiet,
  mention: wish.mention,
})

/** Would the one take the place of the other? By what the project is, whatever was known of it at the time. */
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
  about: Named | null
  instead: string | null
  by: Asker
  at: number
}

async function keep(tx: Tx, { wanted, about, instead, by, at }: Keeping): Promise<Ended> {
  if (await isGivenUp(tx, by.askKey)) throw new NotAttempted('the asker was told that it was interrupted')
  await tx.lockName(`subscriptions of ${wanted.channel}`)
  const here = await tx.subscriptionsOf(wanted.channel)
  const there = here.filter((one) => one.id !== instead && isSamePlace(one, wanted, about))
  const [old, ...others] = [...here.filter(({ id }) => id === instead), ...there]
  if (!old && here.length >= SUBSCRIPTIONS_MAX) return { kind: 'too-many', max: SUBSCRIPTIONS_MAX }
  if (old && others.length === 0 && isSamePlace(old, wanted, about) && saysTheSame(old, wanted))
    return { kind: 'same', kept: old, was: null }
  for (const { id } of others) await tx.removeSubscription(id)
  const filled = { ...wanted, follows: filledIn(wanted.follows, old?.follows) }
  if (old) await moveTo(tx, old, filled)
  const { kept } = await tx.keepSubscription(filled, { user: by.user, at })
  return { kind: 'kept', kept, was: old ?? null }
}

const saysTheSame = (one: WantedSubscription, other: WantedSubscription): boolean => saying(one) === saying(other)

const saying = ({ rules, quiet, mention }: WantedSubscription): string =>
  JSON.stringify([rules?.map((rule) => (rule.events === 'every' ? 'every' : rule.events.toSorted())), quiet, mention])

/** The ids that either of them knows: what was subscribed by name alone has them from now on. */
function filledIn(wanted: Follows, old: Follows | undefined): Follows {
  if (wanted.what !== 'project' || old?.what !== 'project') return wanted
  return { ...wanted, uuid: wanted.uuid ?? old.uuid ?? null, projectId: wanted.projectId ?? old.projectId ?? null }
}

/** A subscription stands where its ids and branches put it: one that belongs elsewhere is put there, and keeps its maker. */
async function moveTo(tx: Tx, old: KeptSubscription, { follows, rules }: WantedSubscription): Promise<void> {
  if (subscriptionSlot(old.follows, old.rules) === subscriptionSlot(follows, rules)) return
  await tx.removeSubscription(old.id)
  await tx.keepSubscription({ ...old, follows, rules }, { user: old.createdBy, at: old.createdAt })
}
