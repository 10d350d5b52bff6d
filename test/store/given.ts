import { NO_DETAILS, type ReceivedEvent, type BuildEvent } from '../../src/domain/builds/build-event.ts'
import { NO_QUEUES, type Queues, type StoredMessage } from '../../src/domain/cards/plan.ts'
import { toUuid } from '../../src/domain/ids.ts'
import type { ProjectRequest } from '../../src/domain/cards/request.ts'
import type { CardKey, StoredDecision } from '../../src/store/records.ts'
import type { Reads, Store } from '../../src/store/store.ts'
import { buildId, channelId, COMMIT, projectId, T0, WEB, type Said } from '../support/build-events.ts'

export const BUILDS = channelId('C0BUILDS01')
export const RELEASES = channelId('C0RELEASES')

/** The default revision of all helpers. */
export const REVISION = '0123456789abcdef0123456789abcdef'
export const CARD: CardKey = { subject: `${REVISION}/1`, channel: BUILDS }

/** One delivery by CI: build 512 of acme/web failed on `main`, by default. */
export function seen(said: Partial<Said> = {}): ReceivedEvent {
  const { word: rawStatus = 'error', build = '512', project = WEB, branch = 'main', commit = COMMIT, details } = said
  const ids = { projectId: projectId(project), buildId: buildId(build) }
  return { ...ids, branch, commitId: commit, rawStatus, details: { ...NO_DETAILS, ...details } }
}

export type Heard = Partial<Said> & { revisionKey?: string; priority?: number }

/** Stores one build event in a write of its own. @returns its number in the order of receipt */
export const hear = (store: Store, heard: Heard = {}): Promise<number> =>
  store.write((tx) => tx.insertBuildEvent(...buildEvent(heard)))

/** The arguments of `insertBuildEvent`. */
export function buildEvent({ revisionKey = REVISION, after = 0, priority = 1, ...said }: Heard = {}) {
  return [seen(said), { at: T0 + after, origin: 'delivery', priority, revisionKey }] as const
}

/** The revisions that are due, without their builds. */
export const dueKeys = async (reads: Reads, now: number, limit: number): Promise<string[]> =>
  (await reads.dueIngest(now, limit)).map(({ revisionKey }) => revisionKey)

/** The build events of a revision that are not ingested, in order of receipt. */
export async function waiting(reads: Reads, revisionKey = REVISION): Promise<BuildEvent[]> {
  const due = await reads.dueIngest(Number.MAX_SAFE_INTEGER, DUE_MAX)
  const { buildKeys } = due.find((one) => one.revisionKey === revisionKey) ?? { buildKeys: [] }
  return (await reads.eventsOfBuilds(buildKeys)).filter(({ cardNumber }) => cardNumber === null)
}

const DUE_MAX = 10_000

export const decided = (about: Partial<StoredDecision> & { eventSeq: number }): StoredDecision => ({
  ...CARD,
  verdict: 'post',
  reason: 'every-event',
  rulesFrom: 'nobody',
  ruleResults: [],
  loud: false,
  change: null,
  noticeDay: null,
  decidedAt: T0,
  ...about,
})

/** Creates a card and sets its queues. */
export const stand = (store: Store, key: CardKey, queues: Partial<Queues> = {}): Promise<void> =>
  store.write(async (tx) => {
    await tx.ensureCard({ ...key, quiet: false, mention: false })
    await tx.setQueues(key, { ...NO_QUEUES, ...queues })
  })

export const claimed = (about: Partial<StoredMessage & CardKey> = {}): StoredMessage & CardKey => ({
  ...CARD,
  key: 'key-1',
  slot: 'card',
  generation: 1,
  state: 'claimed',
  claimedAt: T0,
  claimedBy: 'process-1',
  lookedAt: null,
  ts: null,
  digest: 'says',
  sending: null,
  sendingAt: null,
  recheckAt: null,
  doubtAt: null,
  writtenAt: null,
  postedAttempt: null,
  ...about,
})

/** Grace edits acme/web, and CI is being called. */
export const projectRequest = (change: Partial<ProjectRequest> = {}): ProjectRequest => ({
  id: 'project-request-1',
  interactionKey: `ask of ${change.id ?? 'project-request-1'}`,
  action: 'edit-project',
  state: 'calling',
  project: 'acme/web',
  projectUuid: toUuid('11111111-aaaa-0000-0000-000000000001'),
  what: ['branches'],
  before: { branches: 'k3Jf9aQ2' },
  newBuildId: null,
  requestedBy: 'U0GRACE001',
  requestedTeam: null,
  channel: null,
  via: 'modal',
  requestedAt: T0,
  claimedBy: 'process-1',
  code: null,
  reason: null,
  answeredAt: null,
  lookAt: null,
  endedAt: null,
  ...change,
})

/** An array of this length. */
export const several = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
