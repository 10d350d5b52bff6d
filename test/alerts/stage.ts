import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { ChannelId } from '../../src/domain/ids.ts'
import { revisionSubject } from '../../src/domain/builds/revision.ts'
import type { StoredMessage } from '../../src/domain/cards/plan.ts'
import type { Subscription } from '../../src/domain/rules/subscription.ts'
import type { Log } from '../../src/lib/log.ts'
import { type Recorded, revisionKey } from '../../src/domain/builds/build-event.ts'
import { recordAcknowledged } from '../support/acknowledged.ts'
import type { Counted, ReconcileDeps } from '../../src/alerts/deps.ts'
import { soleTerm } from '../../src/alerts/send/lease.ts'
import { withClosings } from '../../src/projects/followers.ts'
import { ingestRevisions } from '../../src/alerts/ingest/ingest.ts'
import { createReconciler, type Reconciler } from '../../src/alerts/reconciler.ts'
import type { CardKey } from '../../src/store/records.ts'
import type { Store } from '../../src/store/store.ts'
import { channelId, story, T0, type Said } from '../support/build-events.ts'
import { createFakeNotifier, type FakeNotifier } from '../support/fake-notifier.ts'
import { createHandClock, watched, type HandClock } from '../support/hand-clock.ts'
import { emptyDatabase, FAST_FOLDER, openBesideHandClock } from '../support/stores.ts'
import { mortal, type Life } from './mortal.ts'

export const BUILDS = channelId('C0BUILDS01')
export const RELEASES = channelId('C0RELEASE1')

/** A channel that follows every project and gets every event. */
export const follower = (channel: ChannelId, changes: Partial<Subscription> = {}): Subscription => ({
  channel,
  follows: { what: 'all' },
  rules: [{ branch: null, branchMatch: null, events: 'every' }],
  quiet: false,
  mention: 'nobody',
  source: 'file',
  ...changes,
})

/** One process with a reconciler. It can die at any moment; nothing it was doing continues. */
export interface Incarnation extends Life {
  processId: string
  deps: ReconcileDeps
  reconciler: Reconciler
}

export interface Stage extends AsyncDisposable {
  store: Store
  clock: HandClock
  slack: FakeNotifier
  log: Spoken[]
  counted: Counted[]
  subscriptions: Subscription[]
  /** Receives build events, as deliveries do, each at the current time. */
  hear(...said: readonly (string | Said)[]): Promise<Recorded>
  /** A new process on the same store, not started yet. */
  embody(changes?: Partial<ReconcileDeps>, fuse?: number): Incarnation
  /** A new process on the same store, started. */
  live(changes?: Partial<ReconcileDeps>, fuse?: number): Promise<Incarnation>
  messagesOf(card: CardKey): Promise<StoredMessage[]>
  /** Runs one SQL statement for the test. */
  sql(text: string, ...parameters: readonly SQLInputValue[]): unknown[]
}

export interface Spoken {
  level: 'debug' | 'info' | 'warn' | 'error'
  text: string
  fields: object
}

export interface StageOptions {
  subscriptions?: readonly Subscription[]
  startAt?: number
  random?: () => number
  /** other processes may share the store */
  shared?: boolean
}

/** The real domain, store and reconciler, with a fake Slack and a clock that the test advances. */
export async function openStage({
  subscriptions = [follower(BUILDS)],
  startAt = T0,
  random = () => 0.5,
  shared = false,
}: StageOptions = {}): Promise<Stage> {
  const bytes = await emptyDatabase()
  const folder = mkdtempSync(join(FAST_FOLDER, 'buildline-stage-'))
  const path = join(folder, 'builds.db')
  writeFileSync(path, bytes)
  const own = openBesideHandClock(path)
  const store = watched({ ...own, shared })
  const clock = createHandClock(startAt, store.pending)
  const slack = createFakeNotifier(clock)
  const stage = {
    store,
    clock,
    slack,
    log: [] as Spoken[],
    counted: [] as Counted[],
    subscriptions: [...subscriptions],
  }
  let processes = 0
  let keys = 0

  function embody(changes: Partial<ReconcileDeps> = {}, fuse = Number.POSITIVE_INFINITY): Incarnation {
    const processId = `process-${++processes}`
    const { life, deps } = mortal({ store, notifier: slack, clock }, fuse)
    const whole: ReconcileDeps = {
      ...deps,
      log: logInto(stage.log),
      random,
      newKey: () => `key-${++keys}`,
      term: soleTerm(processId),
      subscriptions: async () => withClosings(stage.subscriptions, await store.read.closedChannels()),
      rulesOf: async () => null,
      addresses: null,
      configured: { v2: false, legacy: false },
      hasWaitingDeliveries: () => false,
      count: (what) => void stage.counted.push(what),
      ...changes,
    }
    return Object.assign(life, { processId, deps: whole, reconciler: createReconciler(whole) })
  }

  return {
    ...stage,
    embody,
    async live(changes, fuse) {
      const incarnation = embody(changes, fuse)
      store.listen(incarnation.reconciler.wake)
      void incarnation.reconciler.start()
      await clock.settle()
      return incarnation
    },
    async hear(...said) {
      let recorded: Recorded | null = null
      for (const event of story(...said)) recorded = await recordAcknowledged({ store, clock }, { event, body: '{}' })
      return recorded!
    },
    messagesOf: (card) => store.read.messagesOf(card),
    sql(text, ...parameters) {
      const db = new DatabaseSync(path)
      try {
        return db.prepare(text).all(...parameters)
      } finally {
        db.close()
      }
    },
    async [Symbol.asyncDispose]() {
      await own.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The key of build 512's first card in a channel, or of another build's or card. */
export const cardKey = (said: string | Said = '', channel: ChannelId = BUILDS, cardNumber = 1): CardKey => ({
  subject: revisionSubject(revisionKey(story(said)[0]!), cardNumber),
  channel,
})

/** Ingests everything that is due now, as the reconciler would. */
export async function ingestDue(deps: ReconcileDeps): Promise<void> {
  const due = await deps.store.read.dueIngest(deps.clock.now(), LINEAGES_MAX)
  await ingestRevisions({ ...deps, isUnderWay: () => false }, due)
}

const LINEAGES_MAX = 100

const logInto = (spoken: Spoken[]): Log => {
  const say = (level: Spoken['level']) => (fields: object, text: string) => void spoken.push({ level, text, fields })
  return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') }
}
