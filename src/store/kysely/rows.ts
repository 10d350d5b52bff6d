import type { Selectable } from 'kysely'
import type { BuildDetails, Origin } from '../../domain/fact.ts'
import type { BuildId, ChannelId, MessageTs, ProjectId, Uuid } from '../../domain/ids.ts'
import type { PlacedFact } from '../../domain/lineage.ts'
import { LANES, NO_LANES, type Lane, type Lanes, type StoredMessage } from '../../domain/plan.ts'
import type { Request, RequestTarget } from '../../domain/request.ts'
import type { ChannelRule, NotificationRule, RuleVerdict } from '../../domain/rule.ts'
import { toStatus, type Status } from '../../domain/status.ts'
import type { Subscription } from '../../domain/subscription.ts'
import type { Schema } from '../schema.ts'
import type { BuildPlace, Card, HeardProject, KeptDecision, KnownBuild, KnownProject, RequestChange } from '../store.ts'

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
  origin: row.origin as Origin,
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
  type: row.type,
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

export const toHeardProject = (row: Selectable<Schema['heard']>): HeardProject => ({
  projectId: row.project_id as ProjectId,
  name: row.name,
  fullName: row.full_name,
  projectUuid: row.project_uuid as Uuid | null,
  at: row.at,
})

export const toKnownBuild = (row: Selectable<Schema['build']>): KnownBuild => ({
  projectId: row.project_id as ProjectId,
  buildId: row.build_id as BuildId,
  run: row.run,
  lineageKey: row.lineage_key,
  episode: row.episode,
  branch: row.branch,
  status: row.status as Status,
  word: row.word,
  at: row.at,
  buildUuid: row.build_uuid as Uuid | null,
})

export const buildKey = (projectId: string, buildId: string): string => `${projectId}/${buildId}`

export function toRequest(row: Selectable<Schema['request']>): Request {
  const [projectId, buildId] = (row.build_key ?? '').split('/')
  return {
    id: row.id,
    askKey: row.ask_key,
    action: row.action as Request['action'],
    state: row.state as Request['state'],
    projectId: projectId as ProjectId,
    buildId: buildId as BuildId,
    run: row.run ?? 0,
    lineageKey: row.lineage_key ?? '',
    subject: row.subject ?? '',
    target: JSON.parse(row.target) as RequestTarget,
    askedBy: row.asked_by,
    askedTeam: row.asked_team,
    channel: row.channel as ChannelId | null,
    via: row.via as Request['via'],
    askedAt: row.asked_at,
    claimedBy: row.claimed_by,
    code: row.code,
    reason: row.reason,
    answeredAt: row.answered_at,
    newBuildId: row.new_build_id as BuildId | null,
    newBuildUuid: row.new_build_uuid as Uuid | null,
    lookAt: row.look_at,
    endedAt: row.ended_at,
  }
}

export const fromRequest = (request: Request): Selectable<Schema['request']> => ({
  id: request.id,
  ask_key: request.askKey,
  action: request.action,
  state: request.state,
  build_key: buildKey(request.projectId, request.buildId),
  run: request.run,
  lineage_key: request.lineageKey,
  subject: request.subject,
  target: JSON.stringify(request.target),
  asked_by: request.askedBy,
  asked_team: request.askedTeam,
  channel: request.channel,
  via: request.via,
  asked_at: request.askedAt,
  claimed_by: request.claimedBy,
  code: request.code,
  reason: request.reason,
  answered_at: request.answeredAt,
  new_build_id: request.newBuildId,
  new_build_uuid: request.newBuildUuid,
  look_at: request.lookAt,
  ended_at: request.endedAt,
})

const CHANGE_COLUMNS = {
  state: 'state',
  code: 'code',
  reason: 'reason',
  answeredAt: 'answered_at',
  newBuildId: 'new_build_id',
  newBuildUuid: 'new_build_uuid',
  lookAt: 'look_at',
  endedAt: 'ended_at',
  claimedBy: 'claimed_by',
} as const satisfies Record<keyof RequestChange, keyof Schema['request']>

export const fromRequestChange = (change: RequestChange): Partial<Selectable<Schema['request']>> =>
  Object.fromEntries(
    Object.entries(CHANGE_COLUMNS)
      .filter(([field]) => field in change)
      .map(([field, column]) => [column, change[field as keyof RequestChange]]),
  )
