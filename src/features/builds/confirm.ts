import type { ClientLegacy } from '../../sources/ci-service/client-legacy.ts'
import type { LegacyBuild } from '../../domain/project.ts'
import { CONFIRM_WITHIN_MS, isOpen, type Request } from '../../domain/request.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { RequestChange } from '../../store/kept.ts'
import type { Store, Tx } from '../../store/store.ts'
import { lookUp, type Seen } from './lookup.ts'
import { insertPolled } from '../../catalog/ci-snapshot.ts'

/** Requests looked at in one round. */
export const ROUND_MAX = 20

/** CI is looked at again so often while it is unclear what happened. */
const LOOK_AGAIN_MS = 10_000

/** While CI cannot be asked, it is tried so long past the time in which it should have confirmed. */
export const GIVE_UP_MS = 10 * 60_000

export interface ConfirmRequests {
  store: Store
  clock: Clock
  log: Log
  wake: (revisionKey: string) => void
  processId: string
  legacy: Pick<ClientLegacy, 'getProject'> | null
}

/**
 * Ends what no delivery has ended: a request that a dead process left while it called CI is unclear; one that is unclear,
 * or not confirmed within CONFIRM_WITHIN_MS, is looked up at CI where the legacy interface allows it. Nothing is ever
 * asked of CI a second time. What CI says becomes a fact; what it does not say is said.
 */
export async function confirmRequests(deps: ConfirmRequests): Promise<void> {
  const now = deps.clock.now()
  for (const request of await deps.store.read.requestsToLookAt(farAhead(deps, now), ROUND_MAX)) {
    try {
      await lookAfter(deps, request, now)
    } catch (error) {
      deps.log.warn({ err: error, request: request.id }, 'a request could not be looked after; it will be tried again')
    }
  }
}

// On a database of our own, what another process was calling died with it: nobody need wait for its time to run out.
const farAhead = ({ store }: ConfirmRequests, now: number): number => (store.shared ? now : now + CONFIRM_WITHIN_MS)

async function lookAfter(deps: ConfirmRequests, request: Request, now: number): Promise<void> {
  if (request.state === 'calling') await bury(deps, request, now)
  else if (request.lookAt !== null && request.lookAt <= now) await confirm(deps, request)
}

async function bury(deps: ConfirmRequests, request: Request, now: number): Promise<void> {
  const isOver = (request.lookAt ?? 0) <= now
  const isDead = isOver || (!deps.store.shared && request.claimedBy !== deps.processId)
  if (!isDead) return
  deps.log.warn(
    { request: request.id },
    'a request was left in the middle of its call; CI is looked at, not asked again',
  )
  await change(deps, request, { state: 'unclear', code: 'interrupted', lookAt: now, answeredAt: now })
}

async function confirm(deps: ConfirmRequests, request: Request): Promise<void> {
  const seen = await lookUp(deps, request)
  const now = deps.clock.now()
  if (seen.kind === 'shown') return keep(deps, request, seen.build)
  const confirmBy = request.askedAt + CONFIRM_WITHIN_MS
  const isOverdue = now >= confirmBy
  const mayKnowLater = seen.kind === 'away' ? now < confirmBy + GIVE_UP_MS : !isOverdue
  if (mayKnowLater && seen.kind !== 'blind') return change(deps, request, { lookAt: now + LOOK_AGAIN_MS })
  // What cannot be looked at may still be told by a delivery until the time is over.
  if (!isOverdue) return change(deps, request, { lookAt: confirmBy })
  await giveUp(deps, request, seen)
}

async function giveUp(deps: ConfirmRequests, request: Request, seen: Exclude<Seen, { kind: 'shown' }>): Promise<void> {
  const code =
    seen.kind === 'not-shown' ? (request.action === 'stop' ? 'still-running' : 'not-restarted') : 'cannot-look'
  const at = deps.clock.now()
  await change(deps, request, { state: 'unconfirmed', code, lookAt: null, endedAt: at }, async (tx) => {
    // CI says how the build stands: as it was. What we took for its new run is none.
    if (request.action === 'restart' && seen.kind === 'not-shown')
      await insertPolled(tx, request, { build: seen.own, begunAgain: false, at })
  })
}

/** CI has shown it: what it showed is a fact like any other, and the request has ended. */
async function keep(deps: ConfirmRequests, request: Request, build: LegacyBuild): Promise<void> {
  const at = deps.clock.now()
  const newBuild = request.action === 'restart' ? { newBuildId: build.id, newBuildUuid: build.uuid } : {}
  await change(deps, request, { ...newBuild, state: 'confirmed', lookAt: null, endedAt: at }, (tx) =>
    insertPolled(tx, request, { build, begunAgain: request.action === 'restart', at }),
  )
}

/** Changes a request unless somebody has done so since it was read: a delivery may have confirmed it meanwhile. */
async function change(
  { store, clock, wake }: ConfirmRequests,
  request: Request,
  changes: RequestChange,
  also: (tx: Tx) => Promise<unknown> = async () => {},
): Promise<void> {
  await store.write(async (tx) => {
    await tx.intakeOf(request.revisionKey)
    const stands = await tx.requestOf(request.askKey)
    if (!stands || !isOpen(stands) || stands.state !== request.state) return
    await tx.updateRequest(request.id, changes)
    await also(tx)
    await tx.wakeRevision(request.revisionKey, clock.now(), 0)
  })
  wake(request.revisionKey)
}
