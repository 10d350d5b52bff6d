import type { Asked, Interaction } from '../domain/interaction.ts'
import type { ProjectRequest } from '../domain/project-request.ts'
import type { Request } from '../domain/request.ts'
import type { Clock } from '../lib/clock.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Log } from '../lib/log.ts'
import type { Seal } from '../lib/seal.ts'
import type { Store, Tx } from '../store/store.ts'
import { NotAttempted } from '../store/not-attempted.ts'

/** What was asked is on disk by then, or it is refused in words: Slack itself waits for three seconds. */
export const KEEP_WITHIN_MS = 1_500

/** Each process says so often that it is still at work on what people asked it, and looks for what others left. */
export const LOOK_EVERY_MS = 5_000

/** A process that did not say so for this long is dead: another one answers. */
export const LEFT_AFTER_MS = 15_000

/** An answer that nobody could be shown is tried again so often. */
export const AGAIN_AFTER_MS = 60_000

/** An answer that could not be shown for so long is shown no more. */
export const OWED_MAX_MS = 24 * 60 * 60_000

/** Slack repeats an event for an hour, and takes a signature for five minutes. */
export const REQUESTS_KEPT_MS = 2 * 60 * 60_000

/** So many are answered in one round, of so many that are looked at. */
export const ROUND_MAX = 20
const LOOKED_AT_MAX = 500

/** An ask that was interrupted, and the request that it led to; null: nothing was asked of CI, and nothing will be. */
export interface Left {
  interaction: Interaction
  request: Request | ProjectRequest | null
}

export interface UnansweredDeps {
  store: Store
  clock: Clock
  log: Log
  newId: () => string
  /** A response_url lets whoever has it write in the channel for half an hour: it is never stored in the clear. */
  seal: Seal
  /** this process, as claims name it */
  processId: string
  /** Shows the asker that they were interrupted. `unreachable`: nothing ever will. Throws: perhaps later. */
  tell: (left: Left) => Promise<'shown' | 'unreachable'>
}

/** What people asked and were not answered: on disk before Slack hears that we have it, until the answer was shown. */
export interface Unanswered {
  /**
   * Resolves when it is on disk; null: the request of this key was taken before, and nothing is to be done. Throws NotAttempted
   * where the store has not taken it within KEEP_WITHIN_MS.
   */
  keep(asked: Asked, requestKey: string): Promise<Interaction | null>
  /** Whether a request that nobody waits for comes for the first time. What cannot be known counts as new. */
  isNew(requestKey: string): Promise<boolean>
  /** Its answer was shown. Never throws: what the store does not take now, it is told again. */
  settle(interaction: Interaction): Promise<void>
  /** Its answer could not be shown: it is owed still. */
  release(interaction: Interaction): void
  /** Answers that it was interrupted, at once; from here on nothing is asked of CI for it. Never throws. */
  giveUp(interaction: Interaction): Promise<void>
  /** Answers what dead processes left, and what could not be shown. On a database of our own, at once. */
  answerLeft(): Promise<void>
  /** Does so again and again, until `stop`. */
  start(): void
  stop(): Promise<void>
  /** Removes what is older than OWED_MAX_MS. */
  forget(): Promise<void>
}

export function createUnanswered(deps: UnansweredDeps): Unanswered {
  const { store, clock, log, processId } = deps
  /** what this process is at work on, and what it has answered, but the store does not know yet */
  const underWay = new Set<string>()
  const settled = new Map<string, Interaction>()

  async function keep(asked: Asked, requestKey: string): Promise<Interaction | null> {
    const claim = { state: 'owed', claimedBy: processId, claimedAt: clock.now() } as const
    const responseUrl = asked.responseUrl && deps.seal.close(asked.responseUrl)
    const interaction: Interaction = { ...asked, responseUrl, id: deps.newId(), ...claim }
    underWay.add(interaction.id)
    const writing = store.write(async (tx) => {
      if (!(await tx.rememberRequest(requestKey, clock.now()))) return false
      await tx.insertInteraction(interaction)
      return true
    })
    try {
      if (await withTimeout(clock, KEEP_WITHIN_MS, writing)) return interaction
      underWay.delete(interaction.id)
      return null
    } catch (error) {
      // Should it be written after all, nobody is owed an answer: the asker is told now.
      void writing.then(
        () => settle(interaction),
        () => underWay.delete(interaction.id),
      )
      throw new NotAttempted('it could not be written down', error)
    }
  }

  async function isNew(requestKey: string): Promise<boolean> {
    const writing = store.write((tx) => tx.rememberRequest(requestKey, clock.now()), { canBeRedone: true })
    try {
      return await withTimeout(clock, KEEP_WITHIN_MS, writing)
    } catch (error) {
      log.warn({ err: error }, 'a request could not be written down; should Slack repeat it, it is done again')
      return true
    }
  }

  async function settle(interaction: Interaction): Promise<void> {
    settled.set(interaction.id, interaction)
    try {
      // A loss of power may bring it back: one answer more is better than none.
      await store.write((tx) => tx.settleInteraction(interaction.id), { canBeRedone: true })
      settled.delete(interaction.id)
      underWay.delete(interaction.id)
    } catch (error) {
      log.warn(
        { err: error, interaction: interaction.id },
        'that an ask is answered could not be written; trying again',
      )
    }
  }

  /** Does nothing where it was answered, or claimed by somebody else. */
  async function tellLeft(interaction: Interaction): Promise<void> {
    const left = await claim(interaction)
    if (!left) return
    const responseUrl = opened(left.interaction.responseUrl)
    const reached = await deps.tell({ ...left, interaction: { ...left.interaction, responseUrl } })
    await store.write((tx) => tx.tellInteraction(interaction.id))
    const fields = { interaction: interaction.id, user: interaction.user, request: left.request?.id ?? null, reached }
    log.warn(fields, 'an ask was interrupted; its asker is told')
  }

  const claim = (interaction: Interaction): Promise<Left | null> =>
    store.write(async (tx) => {
      const claimed = await tx.claimInteraction(interaction.id, interaction, {
        claimedBy: processId,
        claimedAt: clock.now(),
      })
      return claimed ? { interaction, request: await requestOf(tx, interaction.askKey) } : null
    })

  /** Null where it was sealed with another token. An older version stored it in the clear. */
  const opened = (responseUrl: string | null): string | null =>
    responseUrl === null || /^https?:/.test(responseUrl) ? responseUrl : deps.seal.open(responseUrl)

  async function giveUp(interaction: Interaction): Promise<void> {
    try {
      await tellLeft(interaction)
    } catch (error) {
      log.warn({ err: error, interaction: interaction.id }, 'an asker could not be told; the next start does')
    }
  }

  async function answerLeft(): Promise<void> {
    for (const interaction of settled.values()) await settle(interaction)
    const now = clock.now()
    if (store.shared && underWay.size > 0)
      await store.write((tx) => tx.renewInteractions([...underWay], { claimedBy: processId, claimedAt: now }), {
        canBeRedone: true,
      })
    const owed = await store.read.owedInteractions(LOOKED_AT_MAX)
    // One that throws ends the round: Slack is away, and each of them would wait for it.
    for (const interaction of owed.filter((one) => isLeft(one, now)).slice(0, ROUND_MAX)) await tellLeft(interaction)
  }

  function isLeft({ id, state, claimedBy, claimedAt }: Interaction, now: number): boolean {
    if (underWay.has(id)) return false
    if (claimedBy === processId) return state === 'owed' || now - claimedAt >= AGAIN_AFTER_MS
    // On a database of our own whoever else was at work is dead.
    return !store.shared || now - claimedAt >= LEFT_AFTER_MS
  }

  async function forget(): Promise<void> {
    const now = clock.now()
    const mute = await store.write(async (tx) => {
      await tx.setLastDoneAt(FORGET_JOB, now)
      await tx.forgetRequests(now - REQUESTS_KEPT_MS)
      return tx.forgetInteractions(now - OWED_MAX_MS)
    })
    if (mute > 0) log.warn({ asks: mute }, 'asks were given up: for a day nobody could be shown an answer')
  }

  const stopping = new AbortController()
  let looking: Promise<void> = Promise.resolve()

  async function keepLooking(): Promise<void> {
    while (!stopping.signal.aborted) {
      await answerLeft().catch((error: unknown) => log.warn({ err: error }, 'unanswered requests are answered later'))
      await clock.sleep(LOOK_EVERY_MS, stopping.signal)
    }
  }

  return {
    keep,
    isNew,
    settle,
    release: ({ id }) => void underWay.delete(id),
    giveUp,
    answerLeft,
    start: () => void (looking = keepLooking()),
    stop() {
      stopping.abort()
      return looking
    },
    forget,
  }
}

const requestOf = async (tx: Tx, askKey: string) => (await tx.requestOf(askKey)) ?? (await tx.projectRequestOf(askKey))

/** Under this name the store knows when `forget` was last done. */
export const FORGET_JOB = 'forget-interactions'
