import type { Selectable } from 'kysely'
import type { BuildDetails } from '../../domain/fact.ts'
import type { BuildId, ChannelId, MessageTs, ProjectId, Uuid } from '../../domain/ids.ts'
import type { PlacedFact } from '../../domain/lineage.ts'
import { LANES, NO_LANES, type Lane, type Lanes, type StoredMessage } from '../../domain/plan.ts'
import type { ChannelRule, NotificationRule, RuleVerdict } from '../../domain/rule.ts'
import { toStatus } from '../../domain/status.ts'
import type { Subscription } from '../../domain/subscription.ts'
import type { Schema } from '../schema.ts'
import type { BuildPlace, Card, KeptDecision, KnownProject } from '../store.ts'

// Rows into the product's words. The one place that knows both.

export const toPlacedFact = (row: Selectable<Schema['fact']>): PlacedFact & BuildPlace => ({
  seq: row.seq,
  at: row.at,
  episode: row.episode,
  projectId: row.project_id as ProjectId,
  buildId: row.build_id as BuildId,
  branch: row.branch,
  commitId: row.commit_id,
  lineageKey: row.lineage_key,
  word: row.word,
  status: toStatus(row.word),
  details: JSON.parse(row.details) as BuildDetails,
})

export const toMessage = (row: Selectable<Schema['message']>): StoredMessage => ({
  key: row.key,
  slot: row.slot,
  generation: row.generation,
  state: row.state as StoredMessage['state'],
  claimedAt: row.claimed_at,
  claimedBy: row.claimed_by,
  lookedAt: row.looked_at,
  ts: row.ts as MessageTs | null,
  digest: row.digest,
  sending: row.sending,
  sendingAt: row.sending_at,
  recheckAt: row.recheck_at,
  doubtAt: row.doubt_at,
  writtenAt: row.written_at,
  bornRun: row.born_run,
})

const MESSAGE_COLUMNS = {
  key: 'key',
  slot: 'slot',
  generation: 'generation',
  state: 'state',
  claimedAt: 'claimed_at',
  claimedBy: 'claimed_by',
  lookedAt: 'looked_at',
  ts: 'ts',
  digest: 'digest',
  sending: 'sending',
  sendingAt: 'sending_at',
  recheckAt: 'recheck_at',
  doubtAt: 'doubt_at',
  writtenAt: 'written_at',
  bornRun: 'born_run',
} as const satisfies Record<keyof StoredMessage, keyof Schema['message']>

type MessageRow = Omit<Selectable<Schema['message']>, 'subject' | 'channel'>

export const fromMessage = <Part extends Partial<StoredMessage>>(message: Part) =>
  Object.fromEntries(
    Object.entries(MESSAGE_COLUMNS)
      .filter(([field]) => field in message)
      .map(([field, column]) => [column, message[field as keyof StoredMessage]]),
  ) as Part extends StoredMessage ? MessageRow : Partial<MessageRow>

export const toCard = (row: Selectable<Schema['card']>): Card => ({
  subject: row.subject,
  channel: row.channel as ChannelId,
  quiet: row.quiet === 1,
  mention: row.mention === 1,
  lanes: toLanes(row),
  attempts: row.attempts,
  plain: row.plain === 1,
  problem: row.problem,
})

const toLanes = (row: Selectable<Schema['card']>): Lanes => {
  const lanes = { ...NO_LANES }
  for (const lane of LANES) {
    const at = row[`${lane}_at`]
    if (at !== null) lanes[lane] = { at, priority: row[`${lane}_priority`] ?? 0 }
  }
  return lanes
}

export const fromLanes = (lanes: Lanes) => {
  const column = (lane: Lane) => ({
    [`${lane}_at`]: lanes[lane]?.at ?? null,
    [`${lane}_priority`]: lanes[lane]?.priority ?? null,
  })
  return { ...column('post'), ...column('edit'), ...column('look') } as Partial<Selectable<Schema['card']>>
}

export const toDecision = (row: Selectable<Schema['decision']>): KeptDecision => ({
  factSeq: row.fact_seq,
  channel: row.channel as ChannelId,
  subject: row.subject,
  verdict: row.verdict as KeptDecision['verdict'],
  reason: row.reason as KeptDecision['reason'],
  rulesFrom: row.rules_from as KeptDecision['rulesFrom'],
  looked: JSON.parse(row.looked) as RuleVerdict[],
  recovered: row.recovered === 1,
  loud: row.loud === 1,
  noticeDay: row.notice_day,
  decidedAt: row.decided_at,
})

export const fromDecision = (decision: KeptDecision): Selectable<Schema['decision']> => ({
  fact_seq: decision.factSeq,
  channel: decision.channel,
  subject: decision.subject,
  verdict: decision.verdict,
  reason: decision.reason,
  rules_from: decision.rulesFrom,
  looked: JSON.stringify(decision.looked),
  recovered: decision.recovered ? 1 : 0,
  loud: decision.loud ? 1 : 0,
  notice_day: decision.noticeDay,
  decided_at: decision.decidedAt,
})

export const toProject = (row: Selectable<Schema['project']>): KnownProject => ({
  uuid: row.uuid as Uuid,
  name: row.name,
  legacyId: row.legacy_id,
  rules: row.rules === null ? null : (JSON.parse(row.rules) as NotificationRule[]),
})

export const toSubscription = (row: Selectable<Schema['subscription']>): Subscription => ({
  channel: row.channel as ChannelId,
  follows: JSON.parse(row.follows) as Subscription['follows'],
  rules: row.rules === null ? null : (JSON.parse(row.rules) as ChannelRule[]),
  quiet: row.quiet === 1,
  mention: row.mention === 'committer' ? 'committer' : 'nobody',
  source: 'slack',
})
