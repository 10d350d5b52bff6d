import { NO_DETAILS, toFact, type BuildDetails, type Fact, type Origin } from '../../src/domain/fact.ts'
import { isProjectRequest } from '../../src/domain/project-request.ts'
import type { Request } from '../../src/domain/request.ts'
import type { Stage } from '../alerts/stage.ts'
import { buildId, projectId } from '../support/facts.ts'

/** The book that the bot keeps of one message. */
export interface Claim {
  /** the card, by the first fact that it tells: what is forgotten gives up its number, and another one may take it */
  card: string
  slot: string
  generation: number
  bornRun: string | null
}

/** All that was ever heard, asked and claimed: also what the bot has forgotten since. */
export interface Memory {
  facts(): Fact[]
  requests(): AskedFor[]
  claimOf(key: string): Claim | undefined
  /** Reads what stands now. */
  remember(): Promise<void>
  /** What is heard from here on belongs to the next chapter. @returns the last fact of this one */
  lastSeq(): number
}

const REQUESTS_MAX = 1_000

/** A request, and where it was asked. */
export interface AskedFor extends Request {
  card: string
  /** the bot knows it no longer */
  isForgotten: boolean
}

export const cardName = (firstSeq: number): string => `since ${firstSeq}`

export function createMemory({ sql, store }: Stage): Memory {
  const facts = new Map<number, Fact>()
  const requests = new Map<string, AskedFor>()
  const claims = new Map<string, Claim>()
  return {
    facts: () => [...facts.values()].sort((a, b) => a.seq - b.seq),
    requests: () => [...requests.values()],
    claimOf: (key) => claims.get(key),
    lastSeq: () => Math.max(0, ...facts.keys()),
    async remember() {
      for (const fact of readFacts(sql)) facts.set(fact.seq, fact)
      const nameOf = cardNames(sql)
      for (const { subject, ...claim } of readClaims(sql))
        claims.set(claim.key, { ...claim, card: nameOf(subject) ?? subject })
      const asked = await store.read.requestsAfter({ askedAt: 0, id: '' }, REQUESTS_MAX)
      for (const known of requests.values()) known.isForgotten = true
      for (const request of asked)
        if (!isProjectRequest(request)) {
          // While another card of the revision stands, the bot knows what was asked on one that it has forgotten.
          const card = nameOf(request.subject) ?? requests.get(request.id)?.card ?? request.subject
          requests.set(request.id, { ...request, card, isForgotten: false })
        }
    },
  }
}

function readClaims(sql: Stage['sql']): (Omit<Claim, 'card'> & { key: string; subject: string })[] {
  const rows = sql('select * from message') as (Record<string, string> & { generation: number })[]
  return rows.map(({ key, subject, slot, generation, born_run: bornRun = null }) => ({
    key: key!,
    subject: subject!,
    slot: slot!,
    generation,
    bornRun,
  }))
}

function cardNames(sql: Stage['sql']): (subject: string) => string | null {
  const rows = sql(`select lineage_key || '/' || episode as subject, min(seq) as first from fact group by 1`)
  const firsts = new Map((rows as { subject: string; first: number }[]).map(({ subject, first }) => [subject, first]))
  return (subject) => (firsts.has(subject) ? cardName(firsts.get(subject)!) : null)
}

const ORIGINS: readonly Origin[] = ['delivery', 'poll', 'action']

function readFacts(sql: Stage['sql']): Fact[] {
  const rows = sql('select * from fact order by seq') as Record<string, string & number>[]
  return rows.map((row) => {
    const details = { ...NO_DETAILS, ...(JSON.parse(row['details']!) as BuildDetails) }
    const origin = ORIGINS.find((one) => one === String(row['origin']))!
    const ids = { projectId: projectId(row['project_id']!), buildId: buildId(row['build_id']!) }
    const { branch, word } = row as { branch: string | null; word: string } & typeof row
    const seen = { ...ids, branch, commitId: row['commit_id'] ?? null, word, details }
    return toFact(seen, row['seq']!, row['at']!, origin)
  })
}
