import { type Selectable, type Kysely, sql } from 'kysely'
import { buildKey, type BuildId, type ChannelId, type ProjectId, type Uuid } from '../../domain/ids.ts'
import {
  isProjectRequest,
  type ProjectRequest,
  type Request,
  type RequestChange,
  type RequestState,
  type RequestTarget,
  OPEN_STATES,
} from '../../domain/cards/request.ts'
import type { Schema } from '../schema.ts'
import type { Reads, Tx } from '../store.ts'
import type { RunQuery } from './query.ts'

function toRequest(row: Selectable<Schema['request']>): Request {
  const [projectId, buildId] = (row.build_key ?? '').split('/')
  return {
    ...toAsk(row),
    action: row.action as Request['action'],
    projectId: projectId as ProjectId,
    buildId: buildId as BuildId,
    attempt: row.run ?? 0,
    revisionKey: row.lineage_key ?? '',
    subject: row.subject ?? '',
    target: JSON.parse(row.target) as RequestTarget,
    newBuildId: row.new_build_id as BuildId | null,
    newBuildUuid: row.new_build_uuid as Uuid | null,
  }
}

const fromRequest = (request: Request): Selectable<Schema['request']> => ({
  ...fromAsk(request),
  build_key: buildKey(request.projectId, request.buildId),
  run: request.attempt,
  lineage_key: request.revisionKey,
  subject: request.subject,
  target: JSON.stringify(request.target),
  project_uuid: null,
  new_build_id: request.newBuildId,
  new_build_uuid: request.newBuildUuid,
})

/** What a request about a project stores in place of a RequestTarget. */
type ProjectTarget = Pick<ProjectRequest, 'project' | 'what' | 'before'>

function toProjectRequest(row: Selectable<Schema['request']>): ProjectRequest {
  const { project, what, before } = JSON.parse(row.target) as ProjectTarget
  return {
    ...toAsk(row),
    action: row.action as ProjectRequest['action'],
    project,
    projectUuid: row.project_uuid as Uuid | null,
    what,
    before,
    newBuildId: row.new_build_id as BuildId | null,
  }
}

const fromProjectRequest = (request: ProjectRequest): Selectable<Schema['request']> => ({
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
  new_build_id: request.newBuildId,
  new_build_uuid: null,
})

/** The fields of both kinds: who asked, from where, and the state. */
const toAsk = (row: Selectable<Schema['request']>) => ({
  id: row.id,
  interactionKey: row.ask_key,
  state: row.state as RequestState,
  requestedBy: row.asked_by,
  requestedTeam: row.asked_team,
  channel: row.channel as ChannelId | null,
  via: row.via as Request['via'],
  requestedAt: row.asked_at,
  claimedBy: row.claimed_by,
  code: row.code,
  reason: row.reason,
  answeredAt: row.answered_at,
  lookAt: row.look_at,
  endedAt: row.ended_at,
})

const fromAsk = (request: Request | ProjectRequest) => ({
  id: request.id,
  ask_key: request.interactionKey,
  action: request.action,
  state: request.state,
  asked_by: request.requestedBy,
  asked_team: request.requestedTeam,
  channel: request.channel,
  via: request.via,
  asked_at: request.requestedAt,
  claimed_by: request.claimedBy,
  code: request.code,
  reason: request.reason,
  answered_at: request.answeredAt,
  look_at: request.lookAt,
  ended_at: request.endedAt,
})

const toAnyRequest = (row: Selectable<Schema['request']>): Request | ProjectRequest =>
  row.run === null ? toProjectRequest(row) : toRequest(row)

const fromRequestChange = (change: RequestChange): Partial<Selectable<Schema['request']>> =>
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

/** Requests to CI about builds. */
export function readRequests(db: Kysely<Schema>, runQuery: RunQuery) {
  return {
    async requestsOf(revisionKey) {
      const rows = await runQuery('requestsOf', { revisionKey }, (value) =>
        db.selectFrom('request').selectAll().where('lineage_key', '=', value('revisionKey')).orderBy('asked_at'),
      )
      return rows.map(toRequest)
    },

    async requestOf(interactionKey) {
      const row = await db.selectFrom('request').selectAll().where('ask_key', '=', interactionKey).executeTakeFirst()
      return row ? toAnyRequest(row) : null
    },

    async openRequest({ projectId, buildId, attempt }, action) {
      const row = await db
        .selectFrom('request')
        .selectAll()
        .where('build_key', '=', buildKey(projectId, buildId))
        .where('run', '=', attempt)
        .where('action', '=', action)
        .where('state', 'in', OPEN_STATES)
        .executeTakeFirst()
      return row ? toRequest(row) : null
    },

    async restartsOf(projectId, buildId) {
      const rows = await db
        .selectFrom('request')
        .selectAll()
        .where('build_key', '=', buildKey(projectId, buildId))
        .where('action', '=', 'restart')
        .orderBy('asked_at')
        .execute()
      return rows.map(toRequest)
    },

    async requestsToCheck(now, limit) {
      const rows = await db
        .selectFrom('request')
        .selectAll()
        .where('look_at', '<=', now)
        .where('run', 'is not', null)
        .orderBy('look_at')
        .limit(limit)
        .execute()
      return rows.map(toRequest)
    },
  } satisfies Partial<Reads>
}

/** Requests to CI, about builds and about projects. */
export function writeRequests(db: Kysely<Schema>) {
  return {
    async insertRequest(request) {
      const row = isProjectRequest(request) ? fromProjectRequest(request) : fromRequest(request)
      await db.insertInto('request').values(row).execute()
    },

    async updateRequest(id, change) {
      if (Object.keys(change).length === 0) return
      await db.updateTable('request').set(fromRequestChange(change)).where('id', '=', id).execute()
    },
  } satisfies Partial<Tx>
}

export function readProjectRequests(db: Kysely<Schema>) {
  const requests = () => db.selectFrom('request').selectAll().where('run', 'is', null)

  return {
    async openProjectRequest(projectUuid) {
      const row = await requests().where('project_uuid', '=', projectUuid).where('state', 'in', OPEN).executeTakeFirst()
      return row ? toProjectRequest(row) : null
    },

    async projectRequestsToCheck(now, limit) {
      const rows = await requests().where('look_at', '<=', now).orderBy('look_at').limit(limit).execute()
      return rows.map(toProjectRequest)
    },
  } satisfies Partial<Reads>
}

// Literals, as in the index's own condition: otherwise the index is not used.
const OPEN = OPEN_STATES.map((state) => sql.lit(state))

/** All requests to CI, in order of time. */
export function readAudit(db: Kysely<Schema>) {
  const requests = () => db.selectFrom('request').selectAll()

  return {
    async requestsAfter({ requestedAt, id }, limit) {
      const rows = await requests()
        .where(sql<boolean>`(asked_at, id) > (${requestedAt}, ${id})`)
        .orderBy('asked_at')
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(toAnyRequest)
    },

    async newestRequests(limit) {
      const rows = await requests().orderBy('asked_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
      return rows.map(toAnyRequest)
    },
  } satisfies Partial<Reads>
}
