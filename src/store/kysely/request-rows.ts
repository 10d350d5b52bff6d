import type { Selectable } from 'kysely'
import { buildKey, type BuildId, type ChannelId, type ProjectId, type Uuid } from '../../domain/ids.ts'
import type { ProjectRequest } from '../../domain/project-request.ts'
import type { Request, RequestState, RequestTarget } from '../../domain/request.ts'
import type { Schema } from '../schema.ts'
import type { RequestChange } from '../kept.ts'

export function toRequest(row: Selectable<Schema['request']>): Request {
  const [projectId, buildId] = (row.build_key ?? '').split('/')
  return {
    ...toAsk(row),
    action: row.action as Request['action'],
    projectId: projectId as ProjectId,
    buildId: buildId as BuildId,
    run: row.run ?? 0,
    revisionKey: row.lineage_key ?? '',
    subject: row.subject ?? '',
    target: JSON.parse(row.target) as RequestTarget,
    newBuildId: row.new_build_id as BuildId | null,
    newBuildUuid: row.new_build_uuid as Uuid | null,
  }
}

export const fromRequest = (request: Request): Selectable<Schema['request']> => ({
  ...fromAsk(request),
  build_key: buildKey(request.projectId, request.buildId),
  run: request.run,
  lineage_key: request.revisionKey,
  subject: request.subject,
  target: JSON.stringify(request.target),
  project_uuid: null,
  new_build_id: request.newBuildId,
  new_build_uuid: request.newBuildUuid,
})

/** What a request about a project holds in place of a RequestTarget. */
type ProjectTarget = Pick<ProjectRequest, 'project' | 'what' | 'before'>

export function toProjectRequest(row: Selectable<Schema['request']>): ProjectRequest {
  const { project, what, before } = JSON.parse(row.target) as ProjectTarget
  return {
    ...toAsk(row),
    action: row.action as ProjectRequest['action'],
    project,
    projectUuid: row.project_uuid as Uuid | null,
    what,
    before,
  }
}

export const fromProjectRequest = (request: ProjectRequest): Selectable<Schema['request']> => ({
  ...fromAsk(request),
  build_key: null,
  run: null,
  lineage_key: null,
  subject: null,
  target: JSON.stringify({
    project: request.project,
    what: request.what,
    before: request.before,
  } satisfies ProjectTarget),
  project_uuid: request.projectUuid,
  new_build_id: null,
  new_build_uuid: null,
})

/** What both kinds have: who asked, from where, and how it goes. */
const toAsk = (row: Selectable<Schema['request']>) => ({
  id: row.id,
  askKey: row.ask_key,
  state: row.state as RequestState,
  askedBy: row.asked_by,
  askedTeam: row.asked_team,
  channel: row.channel as ChannelId | null,
  via: row.via as Request['via'],
  askedAt: row.asked_at,
  claimedBy: row.claimed_by,
  code: row.code,
  reason: row.reason,
  answeredAt: row.answered_at,
  lookAt: row.look_at,
  endedAt: row.ended_at,
})

const fromAsk = (request: Request | ProjectRequest) => ({
  id: request.id,
  ask_key: request.askKey,
  action: request.action,
  state: request.state,
  asked_by: request.askedBy,
  asked_team: request.askedTeam,
  channel: request.channel,
  via: request.via,
  asked_at: request.askedAt,
  claimed_by: request.claimedBy,
  code: request.code,
  reason: request.reason,
  answered_at: request.answeredAt,
  look_at: request.lookAt,
  ended_at: request.endedAt,
})

/** Of either kind. */
export const toAnyRequest = (row: Selectable<Schema['request']>): Request | ProjectRequest =>
  row.run === null ? toProjectRequest(row) : toRequest(row)

export const fromRequestChange = (change: RequestChange): Partial<Selectable<Schema['request']>> =>
  Object.fromEntries(
    Object.entries(CHANGE_COLUMNS)
      .filter(([field]) => field in change)
      .map(([field, column]) => [column, change[field as keyof RequestChange]]),
  )

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
  projectUuid: 'project_uuid',
} as const satisfies Record<keyof RequestChange, keyof Schema['request']>
