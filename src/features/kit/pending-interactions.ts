import type { ReceivedInteraction, StoredInteraction } from '../../store/records.ts'
import type { ProjectRequest, Request } from '../../domain/cards/request.ts'
import type { Clock } from '../../lib/clock.ts'
import { withTimeout } from '../../lib/async.ts'
import type { Log } from '../../lib/log.ts'
import type { Seal } from '../../lib/seal.ts'
import type { Store } from '../../store/store.ts'
import { NotAttempted } from '../../store/not-attempted.ts'

/** An interaction that is not stored within this time is refused with a message: Slack itself waits three seconds. */
export const STORE_WITHIN_MS = 1_500

/**
 * A second press of the same button within this time is a double click: only the first press is answered. Later presses
 * are answered again, since the person has seen an answer by then.
 */
export const DOUBLE_CLICK_MS = 2_000

/** How often each process renews its claims, and looks for interactions that dead processes have left. */
const LOOK_EVERY_MS = 5_000

/** A process that has not renewed its claim for this long counts as dead, and another one answers. */
export const LEFT_AFTER_MS = 15_000

/** If a person could not be told that the interaction was interrupted, Buildline tries again after this time. */
export const AGAIN_AFTER_MS = 60_000

/**
 * An interaction that a dead process left is carried out only within this time after Slack sent it. Later, the person
 * may have done something else, and is told that nothing was done.
 */
export const LATE_MAX_MS = 60_000

/** An interaction whose requester could not be told for this long is given up. */
export const UNANSWERED_MAX_MS = 24 * 60 * 60_000

/**
 * Keys by which a repetition is recognized are kept for this long. Slack repeats an event for an hour; a signature is
 * valid for five minutes.
 */
export const REQUESTS_KEPT_MS = 2 * 60 * 60_000

/** The most interactions that one round answers, and the most that it reads. */
export const INTERACTIONS_ANSWERED_MAX = 20
const INTERACTIONS_READ_MAX = 500

/** An interaction that was interrupted, or whose answer could not be shown. */
export interface InterruptedInteraction {
  interaction: StoredInteraction
  /** the call to CI that it led to; null: CI was not called, and will not be */
  request: Request | ProjectRequest | null
  /** it was carried out, but its answer could not be shown */
  isUnshown: boolean
}

export interface PendingInteractionsDeps {
  store: Store
  clock: Clock
  log: Log
  newId: () => string
  /** Encrypts what Slack sent: anybody who has its response_url can post in the channel for half an hour. */
  seal: Seal
  /** this process, as claims name it */
  processId: string
  /** Handles the interaction as if it came now, though it is already acknowledged. Settles or releases it. */
  carryOut: (interaction: StoredInteraction, body: unknown) => Promise<void>
  /**
   * Tells the person that the interaction was interrupted. `unreachable`: they never can be told. Throws: retry later.
   */
  notifyInterrupted: (left: InterruptedInteraction) => Promise<'shown' | 'unreachable'>
}

/**
 * Interactions that have no answer yet. Each is on disk from before Slack's acknowledgement until its answer was shown.
 */
export type PendingInteractions = ReturnType<typeof createPendingInteractions>

export function createPendingInteractions(deps: PendingInteractionsDeps) {
  const { store, clock, log, processId } = deps
  /** the interactions that this process is handling, or has answered but not yet recorded */
  const underWay = new Set<string>()
  const settled = new Map<string, StoredInteraction>()
  /** those whose answers this process could not show, until the person is told */
  const unshown = new Set<string>()

  /**
   * Resolves when the interaction is on disk. Null: an interaction with this key came before, or this is the second
   * press of a double click, so nothing is to be done. Throws NotAttempted if the store has not stored it within
   * STORE_WITHIN_MS.
   * @param clickKey equal whenever the same person presses the same button; null: it was no button
   * @param body what Slack sent, if another process may carry it out; otherwise null
   */
  async function keep(
    received: ReceivedInteraction,
    requestKey: string,
    { clickKey = null, body = null }: { clickKey?: string | null; body?: unknown } = {},
  ): Promise<StoredInteraction | null> {
    const { receivedAt } = received
    const claim = { state: 'owed', claimedBy: processId, claimedAt: clock.now() } as const
    const responseUrl = received.responseUrl && deps.seal.close(received.responseUrl)
    const interaction: StoredInteraction = { ...received, responseUrl, id: deps.newId(), ...claim }
    const sealedBody = body === null ? null : deps.seal.close(JSON.stringify(body))
    underWay.add(interaction.id)
    let isRefused = false
    const writing = store.write(async (tx) => {
      if (!(await tx.rememberRequest(requestKey, clock.now()))) return false
      if (clickKey !== null && !(await tx.rememberRequest(clickKey, receivedAt, receivedAt - DOUBLE_CLICK_MS)))
        return false
      await tx.insertInteraction(interaction, sealedBody)
      if (isRefused) throw new Error('the person was told that nothing was done')
      return true
    })
    try {
      if (await withTimeout(clock, STORE_WITHIN_MS, writing)) return interaction
      underWay.delete(interaction.id)
      return null
    } catch (error) {
      isRefused = true
      // If it is stored after all, settle it at once, since the person is now told that nothing was done.
      void writing.then(
        () => settle(interaction),
        () => underWay.delete(interaction.id),
      )
      throw new NotAttempted('it could not be stored', error)
    }
  }

  /** Whether this key is new. If the store fails, the key counts as new. */
  async function isNew(requestKey: string): Promise<boolean> {
    const writing = store.write((tx) => tx.rememberRequest(requestKey, clock.now()), { canBeRedone: true })
    try {
      return await withTimeout(clock, STORE_WITHIN_MS, writing)
    } catch (error) {
      log.warn({ err: error }, 'a request could not be stored; if Slack repeats it, it is done again')
      return true
    }
  }

  /** Records that the answer was shown. Never throws: if the store fails, the write is retried. */
  async function settle(interaction: StoredInteraction): Promise<void> {
    settled.set(interaction.id, interaction)
    try {
      // After a loss of power it may be answered twice, which is better than never.
      await store.write((tx) => tx.settleInteraction(interaction.id), { canBeRedone: true })
      settled.delete(interaction.id)
      underWay.delete(interaction.id)
    } catch (error) {
      log.warn({ err: error, interaction: interaction.id }, 'the end of a request could not be stored; trying again')
    }
  }

  /**
   * Carries the interaction out, or, if it has already led to a call to CI, tells the person that it was interrupted.
   * Does nothing if it was answered, or claimed by another process.
   */
  async function takeOver(interaction: StoredInteraction): Promise<void> {
    const { id, user, interactionKey } = interaction
    const body = isInTime(interaction) ? opened(await store.read.interactionBody(id)) : null
    const state = body === null ? 'given-up' : 'late'
    const claim = { state, claimedBy: processId, claimedAt: clock.now() } as const
    const claimed = await store.write(async (tx) => {
      const isOurs = await tx.claimInteraction(id, interaction, claim)
      return isOurs ? { request: await tx.requestOf(interactionKey) } : null
    })
    if (!claimed) return
    const { request } = claimed
    if (body !== null && request === null) return carryOut({ ...interaction, ...claim }, body)
    const responseUrl = opened(interaction.responseUrl)
    const reached = await deps.notifyInterrupted({
      interaction: { ...interaction, responseUrl },
      request,
      isUnshown: unshown.has(id),
    })
    await store.write((tx) => tx.markInteractionNotified(id))
    const fields = { interaction: id, user, request: request?.id ?? null, reached }
    const what = unshown.delete(id) ? 'an answer could not be shown' : 'a request was interrupted'
    log.warn(fields, `${what}; notifying its requester`)
  }

  /** Begun by another process of this version, which may have finished it and only failed to show the answer. */
  function isInTime({ state, claimedBy, receivedAt }: StoredInteraction): boolean {
    const ageMs = clock.now() - receivedAt
    return state !== 'given-up' && claimedBy !== processId && ageMs >= 0 && ageMs < LATE_MAX_MS
  }

  /** Not awaited by the round, since it may wait for CI. If it fails, the next round tells the person. */
  function carryOut(interaction: StoredInteraction, body: string): void {
    const { id, user } = interaction
    underWay.add(id)
    log.warn({ interaction: id, user }, 'carrying out a request that another process left')
    deps.carryOut(interaction, JSON.parse(body)).catch((error: unknown) => {
      underWay.delete(id)
      log.error({ err: error, interaction: id }, 'a request that another process left could not be carried out')
    })
  }

  /** Null if it was encrypted with another token. */
  const opened = (sealed: string | null): string | null => sealed && deps.seal.open(sealed)

  /** Tells the person at once that the interaction was interrupted; CI is not called for it any more. Never throws. */
  async function giveUp(interaction: StoredInteraction): Promise<void> {
    try {
      await takeOver(interaction)
    } catch (error) {
      log.warn(
        { err: error, interaction: interaction.id },
        'a requester could not be notified; the next start tries again',
      )
    }
  }

  /**
   * Takes over interactions of dead processes, and tells people whose answers were not shown. On SQLite, right at the
   * start.
   */
  async function answerAbandoned(): Promise<void> {
    for (const interaction of settled.values()) await settle(interaction)
    const now = clock.now()
    if (store.shared && underWay.size > 0)
      await store.write((tx) => tx.renewInteractions([...underWay], { claimedBy: processId, claimedAt: now }), {
        canBeRedone: true,
      })
    const owed = await store.read.unansweredInteractions(INTERACTIONS_READ_MAX)
    // An error ends the round: Slack is down, and each further call would wait for it.
    for (const interaction of owed.filter((one) => isAbandoned(one, now)).slice(0, INTERACTIONS_ANSWERED_MAX))
      await takeOver(interaction)
  }

  function isAbandoned({ id, state, claimedBy, claimedAt }: StoredInteraction, now: number): boolean {
    if (underWay.has(id)) return false
    if (claimedBy === processId) return state !== 'given-up' || now - claimedAt >= AGAIN_AFTER_MS
    // On SQLite, no other process can still be handling it.
    return !store.shared || now - claimedAt >= LEFT_AFTER_MS
  }

  /** Removes what is older than UNANSWERED_MAX_MS. */
  async function forget(): Promise<void> {
    const now = clock.now()
    const givenUp = await store.write(async (tx) => {
      await tx.setLastDoneAt(FORGET_JOB, now)
      await tx.forgetRequests(now - REQUESTS_KEPT_MS)
      return tx.forgetInteractions(now - UNANSWERED_MAX_MS)
    })
    if (givenUp > 0)
      log.warn({ interactions: givenUp }, 'gave up on requests whose answers could not be shown for a day')
  }

  const stopping = new AbortController()
  let answering: Promise<void> = Promise.resolve()

  async function keepAnswering(): Promise<void> {
    while (!stopping.signal.aborted) {
      await answerAbandoned().catch((error: unknown) =>
        log.warn({ err: error }, 'unanswered requests are answered later'),
      )
      await clock.sleep(LOOK_EVERY_MS, stopping.signal)
    }
  }

  return {
    keep,
    isNew,
    settle,
    /** The answer could not be shown: `answerAbandoned` tells the person later. */
    release({ id }: StoredInteraction): void {
      unshown.add(id)
      underWay.delete(id)
    },
    giveUp,
    answerAbandoned,
    /** Calls `answerAbandoned` every LOOK_EVERY_MS, until `stop`. */
    start: () => void (answering = keepAnswering()),
    stop() {
      stopping.abort()
      return answering
    },
    forget,
  }
}

/** The store records under this name when `forget` last ran. */
export const FORGET_JOB = 'forget-interactions'

/** One stored interaction while it is handled. It is answered once: with its answer, or with "interrupted". */
export class PendingInteraction {
  readonly #interaction: StoredInteraction
  readonly #pendingInteractions: PendingInteractions
  #state: 'under way' | 'answering' | 'owed' | 'ended' | 'given up' = 'under way'

  constructor(interaction: StoredInteraction, pendingInteractions: PendingInteractions) {
    this.#interaction = interaction
    this.#pendingInteractions = pendingInteractions
  }

  /** since when the person waits for this process (ms): since Slack sent it, or since another process has died */
  get waitsSince(): number {
    return this.late ? this.late.claimedAt : this.#interaction.receivedAt
  }

  /** The interaction, if a dead process has left it. Slack no longer opens a form for it. */
  get late(): StoredInteraction | null {
    return this.#interaction.state === 'late' ? this.#interaction : null
  }

  get isGivenUp(): boolean {
    return this.#state === 'given up'
  }

  /** Call it before showing the answer. False: the person was already told that the interaction was interrupted. */
  beginAnswer(): boolean {
    if (this.isGivenUp) return false
    this.#state = 'answering'
    return true
  }

  async endAnswer(isShown: boolean): Promise<void> {
    this.#state = isShown ? 'ended' : 'owed'
    if (isShown) await this.#pendingInteractions.settle(this.#interaction)
  }

  /** The handler has ended. Settles the interaction, unless its answer could not be shown. */
  async end(): Promise<void> {
    if (this.#state === 'owed') this.#pendingInteractions.release(this.#interaction)
    else if (this.#state !== 'ended' && !this.isGivenUp) await this.endAnswer(true)
  }

  /** Call it when the process stops: tells the person now, unless the answer is already being shown. */
  async giveUp(): Promise<void> {
    if (this.#state !== 'under way') return
    this.#state = 'given up'
    await this.#pendingInteractions.giveUp(this.#interaction)
  }
}
