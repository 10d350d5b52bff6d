import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ReceivedInteraction } from '../../../src/store/records.ts'
import type { Requester } from '../../../src/projects/outcomes.ts'
import { setDigest, turnOffDigest, type DigestInput } from '../../../src/features/subscriptions/digest.ts'
import { NotAttempted } from '../../../src/store/not-attempted.ts'
import {
  AGAIN_AFTER_MS,
  createPendingInteractions,
  STORE_WITHIN_MS,
  LATE_MAX_MS,
  LEFT_AFTER_MS,
  UNANSWERED_MAX_MS,
  REQUESTS_KEPT_MS,
  INTERACTIONS_ANSWERED_MAX,
  type InterruptedInteraction,
  type PendingInteractions,
  type PendingInteractionsDeps,
} from '../../../src/features/kit/pending-interactions.ts'
import { createSeal } from '../../../src/lib/seal.ts'
import type { Store } from '../../../src/store/store.ts'
import { databaseBytes, databasePath, testFolder } from '../../support/app.ts'
import { LIN, T0 } from '../../support/build-events.ts'
import { createHandClock } from '../../support/hand-clock.ts'
import { openBesideHandClock } from '../../support/stores.ts'
import { recordingLog } from './stage.ts'
import { lin, ofAttempt, openStage, type Process } from '../operations-stage.ts'
import type { SubscribeInput } from '../../../src/features/subscriptions/subscribe-input.ts'
import { unsubscribe, subscribe } from '../../../src/features/subscriptions/subscribe.ts'
import { act as actOnStreak } from '../../../src/features/streaks/action.ts'
import { createPersonOperations } from '../../../src/features/people/people.ts'

const asked = (change: Partial<ReceivedInteraction> = {}): ReceivedInteraction => ({
  interactionKey: 'trigger-1',
  user: LIN,
  what: '/ci stop acme/web',
  channel: null,
  threadTs: null,
  responseUrl: null,
  receivedAt: T0,
  ...change,
})

const WEB = { kind: 'project', project: 'acme/web', branch: 'main' } as const
const WISH: SubscribeInput = {
  project: 'acme/web',
  events: 'every',
  branch: null,
  branchMatch: null,
  quiet: false,
  mention: 'nobody',
}
const DAILY: DigestInput = { kind: 'daily', weekday: null, minute: 0, zone: 'UTC' }

const seal = createSeal('xoxb-token')

type Tell = PendingInteractionsDeps['notifyInterrupted']
type CarryOut = PendingInteractionsDeps['carryOut']

const never: CarryOut = async () => {
  throw new Error('nothing is carried out here')
}

/** A store in a file, processes on it, and the messages to requesters. */
async function openBook() {
  const clock = createHandClock(T0)
  const path = databasePath(testFolder())
  const store = openBesideHandClock(path)
  await store.migrate()
  onTestFinished(() => store.close())
  const told: InterruptedInteraction[] = []
  const show: Tell = async (left) => {
    told.push(left)
    return 'shown'
  }
  let ids = 0
  const { log, lines } = recordingLog()
  const process = (
    processId: string,
    {
      tell: notifyInterrupted = show,
      on = store,
      carryOut = never,
    }: { tell?: Tell; on?: Store; carryOut?: CarryOut } = {},
  ) =>
    bookOf(
      createPendingInteractions({
        store: on,
        clock,
        log,
        processId,
        notifyInterrupted,
        seal,
        newId: () => `interaction-${++ids}`,
        carryOut,
      }),
    )
  const owed = async () => (await store.read.unansweredInteractions(100)).map(({ id, state }) => [id, state])
  return { clock, log, path, store, told, lines, process, owed }
}

/** Gives each request a key of its own. */
function bookOf(pendingInteractions: PendingInteractions) {
  const keep = async (one: ReceivedInteraction, body: unknown = null) =>
    (await pendingInteractions.keep(one, randomUUID(), { body }))!
  return { ...pendingInteractions, keep }
}

/** The same database, as several processes share it. */
const shared = (store: Store): Store => ({ ...store, shared: true })

const RESPONSE_URL = 'https://hooks.slack.com/commands/T0/1/response-url-canary'

describe('a response_url, which lets anyone write in the channel for half an hour,', () => {
  test('is never in the database or its write-ahead log in plain text', async () => {
    const { path, process } = await openBook()
    const bytes = () => databaseBytes(dirname(path))
    const book = process('process-1')
    const kept = await book.keep(asked({ responseUrl: RESPONSE_URL }))
    expect(bytes()).toContain(kept.what)
    expect(bytes()).not.toContain('response-url-canary')
    await book.settle(kept)
    expect(bytes()).not.toContain('response-url-canary')
  })

  test('is used after a restart with the same token, and ignored with another one, or unsealed', async () => {
    const { store, clock, log, told } = await openBook()
    const started = (key: string) =>
      createPendingInteractions({
        store,
        clock,
        log,
        processId: key,
        newId: () => key,
        carryOut: never,
        seal: createSeal(key),
        notifyInterrupted: async (left) => (told.push(left), 'shown'),
      })
    await started('xoxb-1').keep(asked({ responseUrl: RESPONSE_URL }), 'request-1')
    await started('xoxb-2').keep(asked({ responseUrl: RESPONSE_URL, interactionKey: 'trigger-2' }), 'request-2')
    await store.write((tx) =>
      tx.insertInteraction({ ...asked(), responseUrl: RESPONSE_URL, ...OLD_ROW, interactionKey: 'trigger-3' }),
    )
    await createPendingInteractions({ ...deps(), seal: createSeal('xoxb-1') }).answerAbandoned()
    expect(told.map(({ interaction }) => interaction.responseUrl)).toEqual([RESPONSE_URL, null, null])

    function deps(): PendingInteractionsDeps {
      return {
        store,
        clock,
        log,
        processId: 'next',
        newId: () => 'next',
        carryOut: never,
        seal,
        notifyInterrupted: async (left) => (told.push(left), 'shown'),
      }
    }
  })
})

/** A row of a version that did not seal it. */
const OLD_ROW = { id: 'old', state: 'owed', claimedBy: 'gone', claimedAt: T0 } as const

describe('a received request', () => {
  test('is known to another process and after a restart, whether it is stored or not', async () => {
    const { store, clock, log } = await openBook()
    const started = (processId: string) =>
      createPendingInteractions({
        store,
        clock,
        log,
        processId,
        seal,
        newId: randomUUID,
        carryOut: never,
        notifyInterrupted: async () => 'shown',
      })
    expect(await started('process-1').keep(asked(), 'signature-1')).not.toBeNull()
    expect(await started('process-2').keep(asked(), 'signature-1')).toBeNull()
    expect(await started('process-2').isNew('signature-1')).toBe(false)
    expect(await started('process-2').isNew('Ev1')).toBe(true)
    expect(await started('process-3').isNew('Ev1')).toBe(false)
    await clock.advance(REQUESTS_KEPT_MS + 1)
    await started('process-3').forget()
    expect(await started('process-3').isNew('Ev1')).toBe(true)
  })
})

describe('a pending interaction', () => {
  test('is on disk after keep, and removed after its answer', async () => {
    const { process, owed } = await openBook()
    const book = process('process-1')
    const interaction = await book.keep(asked())
    expect(await owed()).toEqual([['interaction-1', 'owed']])
    await book.settle(interaction)
    expect(await owed()).toEqual([])
  })

  test(`that is not on disk within ${STORE_WITHIN_MS} ms is refused, and needs no answer even if it is stored later`, async () => {
    const { clock, path, process, owed, told } = await openBook()
    const book = process('process-1')
    const other = new DatabaseSync(path)
    onTestFinished(() => other.close())
    other.exec('begin immediate')
    let end = 'none'
    const keeping = book.keep(asked()).then(
      () => (end = 'kept'),
      (error: unknown) => (end = error instanceof NotAttempted ? 'undone' : 'fault'),
    )
    await clock.advance(STORE_WITHIN_MS - 1)
    expect(end).toBe('none')
    await clock.advance(1)
    await keeping
    expect(end).toBe('undone')
    other.exec('rollback')
    const settled = await process('process-2').keep(asked({ interactionKey: 'trigger-2' }))
    while ((await owed()).length > 1) await new Promise((resolve) => setImmediate(resolve))
    expect(await owed()).toEqual([[settled.id, 'owed']])
    await book.answerAbandoned().catch(() => {})
    expect(told.filter(({ interaction }) => interaction.interactionKey === 'trigger-1')).toEqual([])
  })

  test('that was answered gets no other message, even if the store is slow to remove it', async () => {
    const { store, process, owed, told } = await openBook()
    let isDown = true
    const failing: Store = {
      ...store,
      write: (work, options) =>
        isDown && options?.canBeRedone ? Promise.reject(new Error('away')) : store.write(work),
    }
    const book = process('process-1', { on: failing })
    await book.settle(await book.keep(asked()))
    expect(await owed()).toEqual([['interaction-1', 'owed']])
    await book.answerAbandoned()
    expect(told).toEqual([])
    isDown = false
    await book.answerAbandoned()
    expect(await owed()).toEqual([])
    expect(told).toEqual([])
  })
})

describe('an interaction of a dead process', () => {
  test('is answered at once, and once, if the database is not shared', async () => {
    const { process, told, owed } = await openBook()
    await process('process-1').keep(asked())
    const next = process('process-2')
    await next.answerAbandoned()
    await next.answerAbandoned()
    await process('process-3').answerAbandoned()
    expect(told).toMatchObject([{ interaction: { what: '/ci stop acme/web' }, request: null }])
    expect(await owed()).toEqual([])
  })

  test('is not answered while its own process works on it', async () => {
    const { clock, process, told } = await openBook()
    const book = process('process-1')
    await book.keep(asked())
    await clock.advance(LEFT_AFTER_MS)
    await book.answerAbandoned()
    expect(told).toEqual([])
  })

  test(`is answered by one other process after ${LEFT_AFTER_MS} ms if the database is shared`, async () => {
    const { clock, store, process, told } = await openBook()
    const on = shared(store)
    await process('process-1', { on }).keep(asked())
    const others = [process('process-2', { on }), process('process-3', { on })]
    await clock.advance(LEFT_AFTER_MS - 1)
    await Promise.all(others.map((book) => book.answerAbandoned()))
    expect(told).toEqual([])
    await clock.advance(1)
    await Promise.all(others.map((book) => book.answerAbandoned()))
    expect(told).toHaveLength(1)
  })

  test(`is retried after ${AGAIN_AFTER_MS} ms if the requester cannot be told, and at once by the next process`, async () => {
    const { clock, process, told, owed } = await openBook()
    await process('process-0').keep(asked())
    let tries = 0
    const away: Tell = async () => {
      tries += 1
      throw new Error('Slack is away')
    }
    const book = process('process-1', { tell: away })
    await expect(book.answerAbandoned()).rejects.toThrow('Slack is away')
    await clock.advance(AGAIN_AFTER_MS - 1)
    await book.answerAbandoned()
    expect(tries).toBe(1)
    await clock.advance(1)
    await expect(book.answerAbandoned()).rejects.toThrow('Slack is away')
    expect(tries).toBe(2)
    expect(await owed()).toEqual([['interaction-1', 'given-up']])
    await process('process-2').answerAbandoned()
    expect(told).toHaveLength(1)
  })

  test('is given up if the requester can never be reached', async () => {
    const { process, owed } = await openBook()
    await process('process-0').keep(asked())
    await process('process-1', { tell: async () => 'unreachable' }).answerAbandoned()
    expect(await owed()).toEqual([])
  })

  test('whose answer could not be shown is answered by the same process', async () => {
    const { process, told } = await openBook()
    const book = process('process-1')
    book.release(await book.keep(asked()))
    await book.answerAbandoned()
    expect(told).toMatchObject([{ isUnshown: true }])
    await book.giveUp(await book.keep(asked({ interactionKey: 'trigger-2' })))
    expect(told[1]).toMatchObject({ isUnshown: false })
  })

  test(`waits for the next round if there are more than ${INTERACTIONS_ANSWERED_MAX}`, async () => {
    const { process, told } = await openBook()
    const dead = process('process-0')
    for (let n = 0; n <= INTERACTIONS_ANSWERED_MAX; n++)
      await dead.keep(asked({ interactionKey: `trigger-${n}`, receivedAt: T0 + n }))
    const next = process('process-1')
    await next.answerAbandoned()
    expect(told).toHaveLength(INTERACTIONS_ANSWERED_MAX)
    await next.answerAbandoned()
    expect(told).toHaveLength(INTERACTIONS_ANSWERED_MAX + 1)
  })

  test(`is forgotten after ${UNANSWERED_MAX_MS} ms, with a log line`, async () => {
    const { clock, process, owed, lines, store } = await openBook()
    const book = process('process-1')
    await book.keep(asked())
    await clock.advance(UNANSWERED_MAX_MS)
    await book.forget()
    expect(await owed()).toHaveLength(1)
    await clock.advance(1)
    await book.forget()
    expect(await owed()).toEqual([])
    expect(lines).toMatchObject([{ level: 'warn', fields: { interactions: 1 } }])
    expect(await store.read.lastDoneAt('forget-interactions')).toBe(T0 + UNANSWERED_MAX_MS + 1)
  })
})

describe('an interaction of a dead process, with what Slack sent,', () => {
  const BODY = { command: '/ci', text: 'stop acme/web' }

  /** What a process with this name carries out; it dies while doing so. */
  function taking(book: Awaited<ReturnType<typeof openBook>>, processId: string, on = book.store) {
    const taken: unknown[] = []
    const carryOut: CarryOut = async ({ state }, body) => {
      taken.push([state, body])
      await new Promise(() => {})
    }
    return { taken, ...book.process(processId, { on, carryOut }) }
  }

  test(`is carried out by one other process within ${LATE_MAX_MS} ms, and once more if that one dies too`, async () => {
    const book = await openBook()
    const on = shared(book.store)
    await book.process('process-1', { on }).keep(asked(), BODY)
    const others = [taking(book, 'process-2', on), taking(book, 'process-3', on)]
    await book.clock.advance(LEFT_AFTER_MS)
    await Promise.all(others.map((other) => other.answerAbandoned()))
    expect(others.flatMap(({ taken }) => taken)).toEqual([['late', BODY]])
    await book.clock.advance(LEFT_AFTER_MS)
    const next = taking(book, 'process-4', on)
    await next.answerAbandoned()
    expect(next.taken).toEqual([['late', BODY]])
    expect(book.told).toEqual([])
  })

  test('is reported as interrupted when it is older', async () => {
    const book = await openBook()
    await book.process('process-1').keep(asked(), BODY)
    await book.clock.advance(LATE_MAX_MS)
    const next = taking(book, 'process-2')
    await next.answerAbandoned()
    expect(next.taken).toEqual([])
    expect(book.told).toMatchObject([{ request: null }])
  })

  test('is reported as interrupted if its own process could not show the answer', async () => {
    const book = await openBook()
    const own = taking(book, 'process-1')
    own.release(await own.keep(asked(), BODY))
    await own.answerAbandoned()
    expect(own.taken).toEqual([])
    expect(book.told).toMatchObject([{ isUnshown: true }])
  })

  test('is reported as interrupted if it cannot be carried out, with a log line', async () => {
    const book = await openBook()
    await book.process('process-1').keep(asked(), BODY)
    const next = book.process('process-2')
    await next.answerAbandoned()
    await next.answerAbandoned()
    expect(book.told).toHaveLength(1)
    expect(book.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
  })

  test('is in the database sealed, and gone after its answer', async () => {
    const { path, process } = await openBook()
    const bytes = () => databaseBytes(dirname(path))
    const book = process('process-1')
    const kept = await book.keep(asked({ responseUrl: RESPONSE_URL }), { ...BODY, response_url: RESPONSE_URL })
    expect(bytes()).not.toContain('response-url-canary')
    await book.settle(kept)
    expect(bytes()).not.toContain('response-url-canary')
  })
})

describe('an interaction that was given up', () => {
  test('before its request was recorded never leads to a call of CI, even if its process continues', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    const { told, book, by, interaction } = await keptAsk(stage)
    const slow = stage.another({
      permits: async () => {
        await book.giveUp(interaction)
        return { kind: 'yes' }
      },
    })
    await expect(slow.operations.stop(ofAttempt(ref), by)).rejects.toThrow(NotAttempted)
    expect(told).toMatchObject([{ request: null }])
    expect(stage.writes()).toEqual([])
    expect(await stage.requests()).toEqual([])
  })

  test.each<[string, (deps: Process['deps'], by: Requester) => Promise<unknown>]>([
    ['unsubscribes it', (deps, by) => unsubscribe(deps, { project: 'acme/web', id: null }, by)],
    ['sets a digest', (deps, by) => setDigest(deps, DAILY, by)],
    ['turns it off', (deps, by) => turnOffDigest(deps, by)],
    ['takes a red branch', (deps, by) => actOnStreak(deps, WEB, { kind: 'snooze', minutes: 60 }, by)],
    ['claims a name', (deps, by) => createPersonOperations(deps).claim('lin', by)],
    ['gives a name', (deps, by) => createPersonOperations(deps).give('lin', LIN, by)],
    ['releases a name', (deps, by) => createPersonOperations(deps).release('ada', by)],
    ['turns mentions off', (deps, by) => createPersonOperations(deps).setMentions(false, by)],
  ])('never %s', async (_, act) => {
    await using stage = await openStage()
    await stage.ended('error')
    const { deps } = stage.main
    await subscribe(deps, WISH, lin())
    await setDigest(deps, { ...DAILY, minute: 60 }, lin())
    await createPersonOperations(deps).claim('ada', lin())
    const { book, by, interaction } = await keptAsk(stage)
    await book.giveUp(interaction)
    await expect(act(deps, by)).rejects.toThrow(NotAttempted)
  })

  test('after its request was recorded is told the state of the request, with one call of CI', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    const { told, book, by, interaction } = await keptAsk(stage)
    expect(await stage.main.operations.stop(ofAttempt(ref), by)).toMatchObject({ kind: 'requested' })
    await book.giveUp(interaction)
    expect(told).toMatchObject([{ request: { action: 'stop', state: 'accepted' } }])
    expect(stage.writes()).toHaveLength(1)
  })
})

describe('an operation that fails', () => {
  test('before the call of CI is known not to be done', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    const { store } = stage.main.deps
    const locked = stage.another({ store: { ...store, write: () => Promise.reject(new Error('database is locked')) } })
    await expect(locked.operations.stop(ofAttempt(ref), lin())).rejects.toMatchObject({
      code: 'undone',
      cause: { message: 'database is locked' },
    })
    expect(stage.writes()).toEqual([])
  })
})

/** Lin's interaction is stored. Messages about giving it up go into `told`. */
async function keptAsk(stage: Awaited<ReturnType<typeof openStage>>) {
  const { store, clock, log } = stage.main.deps
  const told: InterruptedInteraction[] = []
  const notifyInterrupted: Tell = async (left) => (told.push(left), 'shown')
  const book = bookOf(
    createPendingInteractions({
      store,
      clock,
      log,
      notifyInterrupted,
      seal,
      newId: () => 'interaction-1',
      carryOut: never,
      processId: 'process-1',
    }),
  )
  const by = lin()
  const interaction = await book.keep(asked({ interactionKey: by.interactionKey }))
  return { told, book, by, interaction }
}
