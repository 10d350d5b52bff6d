import type { ReceivedInteraction, Interaction } from '../domain/interaction.ts'
import type { ProjectRequest, Request } from '../domain/request.ts'
import type { Clock } from '../lib/clock.ts'
import { withTimeout } from '../lib/async.ts'
import type { Log } from '../lib/log.ts'
import type { Seal } from '../lib/seal.ts'
import type { Store } from '../store/store.ts'
import { NotAttempted } from '../store/not-attempted.ts'

/** A request that is not stored within this time is refused with a message: Slack itself waits three seconds. */
export const STORE_WITHIN_MS = 1_500

/**
 * A second press of the same button within this time is a double click: only the first press is answered. Later presses
 * are answered again, since the person has seen an answer by then.
 */
export const DOUBLE_CLICK_MS = 2_000

/** How often each process renews its claims, and looks for requests that dead processes have left. */
const LOOK_EVERY_MS = 5_000

/** A process that has not renewed its claim for this long counts as dead, and another one answers. */
export const LEFT_AFTER_MS = 15_000

/** If a person could not be told that the request was interrupted, Buildline tries again after this time. */
export const AGAIN_AFTER_MS = 60_000

/** A request whose requester could not be told for this long is given up. */
export const UNANSWERED_MAX_MS = 24 * 60 * 60_000

/** Request keys are kept for this long. Slack repeats an event for an hour; a signature is valid for five minutes. */
export const REQUESTS_KEPT_MS = 2 * 60 * 60_000

/** The most requests that one round answers, and the most that it reads. */
export const INTERACTIONS_ANSWERED_MAX = 20
const INTERACTIONS_READ_MAX = 500

/** A request that was interrupted, or whose answer could not be shown. */
export interface InterruptedInteraction {
  interaction: Interaction
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
  /** Encrypts the response_url: anybody who has it can post in the channel for half an hour. */
  seal: Seal
  /** this process, as claims name it */
  processId: string
  /** Tells the person that the request was interrupted. `unreachable`: they never can be told. Throws: retry later. */
  notifyInterrupted: (left: InterruptedInteraction) => Promise<'shown' | 'unreachable'>
}

/** Requests that have no answer yet. Each is on disk from before Slack's acknowledgement until its answer was shown. */
export type PendingInteractions = ReturnType<typeof createPendingInteractions>

export function createPendingInteractions(deps: PendingInteractionsDeps) {
  const { store, clock, log, processId } = deps
  /** what this process is handling, and what it has answered but not yet recorded */
  const underWay = new Set<string>()
  const settled = new Map<string, Interaction>()
  /** those whose answers this process could not show, until the person is told */
  const unshown = new Set<string>()

  /**
   * Resolves when the request is on disk. Null: a request with this key came before, or this is the second press of a
   * double click, so nothing is to be done. Throws NotAttempted if the store has not stored it within STORE_WITHIN_MS.
   * @param clickKey equal whenever the same person presses the same button; null: it was no button
   */
  async function keep(
    received: ReceivedInteraction,
    requestKey: string,
    clickKey: string | null = null,
  ): Promise<Interaction | null> {
    const { receivedAt } = received
    const claim = { state: 'owed', claimedBy: processId, claimedAt: clock.now() } as const
    const responseUrl = received.responseUrl && deps.seal.close(received.responseUrl)
    const interaction: Interaction = { ...received, responseUrl, id: deps.newId(), ...claim }
    underWay.add(interaction.id)
    const writing = store.write(async (tx) => {
      if (!(await tx.rememberRequest(requestKey, clock.now()))) return false
      if (clickKey !== null && !(await tx.rememberRequest(clickKey, receivedAt, receivedAt - DOUBLE_CLICK_MS)))
        return false
      await tx.insertInteraction(interaction)
      return true
    })
    try {
      if (await withTimeout(clock, STORE_WITHIN_MS, writing)) return interaction
      underWay.delete(interaction.id)
      return null
    } catch (error) {
      // If it is stored after all, it is settled at once: the person is told now that nothing was done.
      void writing.then(
        () => settle(interaction),
        () => underWay.delete(interaction.id),
      )
      throw new NotAttempted('it could not be written down', error)
    }
  }

  /** Whether this key comes for the first time. If the store fails, the key counts as new. */
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
  async function settle(interaction: Interaction): Promise<void> {
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

  /** Does nothing if the request was answered, or claimed by another process. */
  async function sendAbandoned(interaction: Interaction): Promise<void> {
    const { id, user, interactionKey } = interaction
    const claimed = await store.write(async (tx) => {
      const isOurs = await tx.claimInteraction(id, interaction, { claimedBy: processId, claimedAt: clock.now() })
      return isOurs ? { request: await tx.requestOf(interactionKey) } : null
    })
    if (!claimed) return
    const { request } = claimed
    const responseUrl = opened(interaction.responseUrl)
    const reached = await deps.notifyInterrupted({
      interaction: { ...interaction, responseUrl },
      request,
      isUnshown: unshown.has(id),
    })
    await store.write((tx) => tx.markInteractionNotified(id))
    const fields = { interaction: id, user, request: request?.id ?? null, reached }
    const what = unshown.delete(id) ? 'an answer could not be shown' : 'a request was interrupted'
    log.warn(fields, `${what}; its requester is told`)
  }

  /** Null if it was encrypted with another token. An older version stored it unencrypted. */
  const opened = (responseUrl: string | null): string | null =>
    responseUrl === null || /^https?:/.test(responseUrl) ? responseUrl : deps.seal.open(responseUrl)

  /** Tells the person at once that the request was interrupted; CI is not called for it any more. Never throws. */
  async function giveUp(interaction: Interaction): Promise<void> {
    try {
      await sendAbandoned(interaction)
    } catch (error) {
      log.warn({ err: error, interaction: interaction.id }, 'a requester could not be told; the next start tries again')
    }
  }

  /** Tells people whose requests dead processes left, or whose answers were not shown. On SQLite, right at start. */
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
      await sendAbandoned(interaction)
  }

  function isAbandoned({ id, state, claimedBy, claimedAt }: Interaction, now: number): boolean {
    if (underWay.has(id)) return false
    if (claimedBy === processId) return state === 'owed' || now - claimedAt >= AGAIN_AFTER_MS
    // On SQLite there is no other process that could still be at work.
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
      log.warn({ interactions: givenUp }, 'requests were given up: for a day their answers could not be shown')
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
    release({ id }: Interaction): void {
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

/** One stored request while it is handled. It is answered once: with its answer, or with "interrupted". */
export class PendingInteraction {
  readonly #interaction: Interaction
  readonly #pendingInteractions: PendingInteractions
  #state: 'under way' | 'answering' | 'owed' | 'ended' | 'given up' = 'under way'

  constructor(interaction: Interaction, pendingInteractions: PendingInteractions) {
    this.#interaction = interaction
    this.#pendingInteractions = pendingInteractions
  }

  /** when Slack sent it (ms) */
  get receivedAt(): number {
    return this.#interaction.receivedAt
  }

  get isGivenUp(): boolean {
    return this.#state === 'given up'
  }

  /** The answer is being shown from now on; false: the person was already told that the request was interrupted. */
  beginAnswer(): boolean {
    if (this.isGivenUp) return false
    this.#state = 'answering'
    return true
  }

  async endAnswer(isShown: boolean): Promise<void> {
    this.#state = isShown ? 'ended' : 'owed'
    if (isShown) await this.#pendingInteractions.settle(this.#interaction)
  }

  /** The handler has ended. Settles the request, unless its answer could not be shown. */
  async end(): Promise<void> {
    if (this.#state === 'owed') this.#pendingInteractions.release(this.#interaction)
    else if (this.#state !== 'ended' && !this.isGivenUp) await this.endAnswer(true)
  }

  /** The process stops: the person is told now, unless the answer is already being shown. */
  async giveUp(): Promise<void> {
    if (this.#state !== 'under way') return
    this.#state = 'given up'
    await this.#pendingInteractions.giveUp(this.#interaction)
  }
}
