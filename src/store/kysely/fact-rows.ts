import type { Selectable } from 'kysely'
import type { BuildDetails, Origin } from '../../domain/fact.ts'
import type { BuildId, ChannelId, ProjectId } from '../../domain/ids.ts'
import type { PlacedFact } from '../../domain/revision.ts'
import type { Looked, RuleVerdict } from '../../domain/rule.ts'
import { toStatus } from '../../domain/status.ts'
import type { Schema } from '../schema.ts'
import type { BuildPlace, KeptDecision } from '../kept.ts'

export const toPlacedFact = (row: Selectable<Schema['fact']>): PlacedFact & BuildPlace => ({
  seq: row.seq,
  at: row.at,
  episode: row.episode,
  projectId: row.project_id as ProjectId,
  buildId: row.build_id as BuildId,
  branch: row.branch,
  commitId: row.commit_id,
  revisionKey: row.lineage_key,
  word: row.word,
  status: toStatus(row.word),
  origin: row.origin as Origin,
  details: JSON.parse(row.details) as BuildDetails,
})

export const toDecision = (row: Selectable<Schema['decision']>): KeptDecision => ({
  factSeq: row.fact_seq,
  channel: row.channel as ChannelId,
  subject: row.subject,
  verdict: row.verdict as KeptDecision['verdict'],
  reason: row.reason as KeptDecision['reason'],
  rulesFrom: row.rules_from as KeptDecision['rulesFrom'],
  looked: (JSON.parse(row.looked) as (Looked | RuleVerdict)[]).map(toLooked),
  recovered: row.recovered === 1,
  loud: row.loud === 1,
  noticeDay: row.notice_day,
  decidedAt: row.decided_at,
})

// Before rules were kept with them, verdicts stood alone.
const toLooked = (kept: Looked | RuleVerdict): Looked =>
  typeof kept === 'string' ? { rule: null, from: null, verdict: kept } : kept

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
