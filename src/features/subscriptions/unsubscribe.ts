import type { ChannelId } from '../../domain/ids.ts'
import { unsubscribedLine } from '../../slack/messages/subscription.ts'
import type { Subscription } from '../../domain/subscription.ts'
import type { KeptSubscription } from '../../store/kept.ts'
import type { Asker } from '../../catalog/outcomes.ts'
import { findProject } from '../../catalog/projects.ts'
import { announce } from './announce.ts'
import type { UnsubscribeOutcome } from './outcomes.ts'
import type { SubscriptionDeps } from './deps.ts'
import { isAbout, namedProjects } from './names.ts'
import { shownOf } from './shown.ts'
import { isAll } from './subscribe.ts'
import { channelFor } from './who.ts'

/** What is meant: a project as people name it or `all`, one subscription by its id, or the only one here. */
export interface UnsubscribeWish {
  project: string | null
  id: string | null
}

/** Removes what a channel follows, of a project all its branches; then tells the channel in one line. */
export async function unsubscribe(
  deps: SubscriptionDeps,
  wish: UnsubscribeWish,
  by: Asker,
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

/** Those that are meant, of the file too: it says so of them. */
async function meantBy({ store }: SubscriptionDeps, { project, id }: UnsubscribeWish, here: readonly Subscription[]) {
  const those = (isMeant: (one: Subscription) => boolean) =>
    ({ kind: 'subscriptions', subscriptions: here.filter(isMeant) }) as const
  if (id !== null) return those((one) => one.id === id)
  if (project === null) return those(isKept)
  if (isAll(project)) return those(({ follows }) => follows.what === 'all')
  // Of a project that nobody knows any more the name is left.
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
  by: Asker
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
  // Somebody else was quicker, or this very ask was heard before.
  if (gone.length === 0) return { kind: 'not-subscribed', text, here: await shownHere() }
  const removed = await shownOf(deps, gone)
  const announced = await announce(deps, { channel, text: unsubscribedLine(by.user, gone), user: by.user })
  return { kind: 'unsubscribed', removed, announced }
}
