import {
  NO_DETAILS,
  toBuildEvent,
  type BuildDetails,
  type BuildEvent,
  type Origin,
} from '../../src/domain/builds/build-event.ts'
import { isProjectRequest, type Request } from '../../src/domain/cards/request.ts'
import type { Stage } from '../alerts/stage.ts'
import type { Promised } from './promises.ts'
import { buildId, projectId } from '../support/build-events.ts'

/** The bot's record of one message. */
export interface Claim {
  /** the card, named by its first event: numbers of removed cards may be used again */
  card: string
  slot: string
  generation: number
  postedAttempt: string | null
}

/** All events, requests and claims of the run, including what the bot has removed since. */
export interface Memory {
  buildEvents(): BuildEvent[]
  requests(): AskedFor[]
  /** what people did about red branches, in order */
  changes(): Promised[]
  claimOf(key: string): Claim | undefined
  /** Reads the current rows. */
  remember(): Promise<void>
  /** Later events belong to the next chapter. @returns the last build event of this one */
  lastSeq(): number
}

const REQUESTS_MAX = 1_000

/** A request, and the card on which it was made. */
export interface AskedFor extends Request {
  card: string
  /** the bot no longer has it */
  isForgotten: boolean
}

export const cardName = (firstSeq: number): string => `since ${firstSeq}`

export function createMemory({ sql, store }: Stage): Memory {
  const buildEvents = new Map<number, BuildEvent>()
  const requests = new Map<string, AskedFor>()
  const changes = new Map<string, Promised>()
  const claims = new Map<string, Claim>()
  return {
    buildEvents: () => [...buildEvents.values()].sort((a, b) => a.seq - b.seq),
    requests: () => [...requests.values()],
    changes: () => [...changes.values()],
    claimOf: (key) => claims.get(key),
    lastSeq: () => Math.max(0, ...buildEvents.keys()),
    async remember() {
      for (const buildEvent of readBuildEvents(sql)) buildEvents.set(buildEvent.seq, buildEvent)
      const nameOf = cardNames(sql)
      for (const { subject, ...claim } of readClaims(sql))
        claims.set(claim.key, { ...claim, card: nameOf(subject) ?? subject })
      const asked = await store.read.requestsAfter({ requestedAt: 0, id: '' }, REQUESTS_MAX)
      for (const known of [...requests.values(), ...changes.values()]) known.isForgotten = true
      for (const { subject, ...change } of readChanges(sql)) {
        const card = nameOf(subject) ?? changes.get(change.id)?.card ?? subject
        changes.set(change.id, { ...change, card, isForgotten: false })
      }
      for (const request of asked)
        if (!isProjectRequest(request)) {
          // The bot keeps requests on a removed card as long as the revision has another card.
          const card = nameOf(request.subject) ?? requests.get(request.id)?.card ?? request.subject
          requests.set(request.id, { ...request, card, isForgotten: false })
        }
    },
  }
}

function readClaims(sql: Stage['sql']): (Omit<Claim, 'card'> & { key: string; subject: string })[] {
  const rows = sql('select * from message') as (Record<string, string> & { generation: number })[]
  return rows.map(({ key, subject, slot, generation, born_run: postedAttempt = null }) => ({
    key: key!,
    subject: subject!,
    slot: slot!,
    generation,
    postedAttempt,
  }))
}

const readChanges = (sql: Stage['sql']): (Omit<Promised, 'card' | 'isForgotten'> & { subject: string })[] =>
  sql(`select id, breakage_id as streakId, kind, made_by as "by", made_to as "to", until, at, channel, subject
    from breakage_change order by rowid`) as ReturnType<typeof readChanges>

function cardNames(sql: Stage['sql']): (subject: string) => string | null {
  const rows = sql(`select lineage_key || '/' || episode as subject, min(seq) as first from fact group by 1`)
  const firsts = new Map((rows as { subject: string; first: number }[]).map(({ subject, first }) => [subject, first]))
  return (subject) => (firsts.has(subject) ? cardName(firsts.get(subject)!) : null)
}

const ORIGINS: readonly Origin[] = ['delivery', 'poll', 'action', 'history']

function readBuildEvents(sql: Stage['sql']): BuildEvent[] {
  const rows = sql('select * from fact order by seq') as Record<string, string & number>[]
  return rows.map((row) => {
    const details = { ...NO_DETAILS, ...(JSON.parse(row['details']!) as BuildDetails) }
    const origin = ORIGINS.find((one) => one === String(row['origin']))!
    const ids = { projectId: projectId(row['project_id']!), buildId: buildId(row['build_id']!) }
    const { branch, word: rawStatus } = row as { branch: string | null; word: string } & typeof row
    const seen = { ...ids, branch, commitId: row['commit_id'] ?? null, rawStatus, details }
    return { ...toBuildEvent(seen, row['seq']!, row['at']!, origin), buildOrder: row['build_order']! }
  })
}
