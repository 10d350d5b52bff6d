import { type Selectable, type Kysely, sql } from 'kysely'
import { buildKey, type BuildId, type ProjectId } from '../../domain/ids.ts'
import {
  isProjectRequest,
  type ProjectRequest,
  type Request,
  type RequestChange,
  type RequestRecord,
  OPEN_STATES,
} from '../../domain/cards/request.ts'
import type { Schema } from '../schema.ts'
import type { Reads, Tx } from '../store.ts'
import type { RunQuery } from './query.ts'
import { type Columns, JSON_TEXT, mapping } from './rows.ts'

/** The fields of both kinds: who asked, from where, and the state. */
const RECORD = {
  id: 'id',
  interactionKey: 'ask_key',
  action: 'action',
  state: 'state',
  requestedBy: 'asked_by',
  requestedTeam: 'asked_team',
  channel: 'channel',
  via: 'via',
  requestedAt: 'asked_at',
  claimedBy: 'claimed_by',
  code: 'code',
  reason: 'reason',
  answeredAt: 'answered_at',
  lookAt: 'look_at',
  endedAt: 'ended_at',
} as const satisfies Columns<'request', RequestRecord>

const REQUEST = mapping<'request', Omit<Request, 'projectId' | 'buildId'>>({
  ...RECORD,
  attempt: 'run',
  revisionKey: 'lineage_key',
  subject: 'subject',
  target: ['target', JSON_TEXT],
  newBuildId: 'new_build_id',
  newBuildUuid: 'new_build_uuid',
})

type RowOfProject = Omit<ProjectRequest, keyof ProjectTarget> & { target: ProjectTarget }

/** What a request about a project stores in place of a RequestTarget. */
type ProjectTarget = Pick<ProjectRequest, 'project' | 'what' | 'before'>

const PROJECT_REQUEST = mapping<'request', RowOfProject>({
  ...RECORD,
  projectUuid: 'project_uuid',
  target: ['target', JSON_TEXT],
  newBuildId: 'new_build_id',
})

const CHANGE = mapping<'request', RequestChange>({
  ...RECORD,
  newBuildId: 'new_build_id',
  newBuildUuid: 'new_build_uuid',
  projectUuid: 'project_uuid',
})

function toRequest(row: Selectable<Schema['request']>): Request {
  const [projectId, buildId] = (row.build_key ?? '').split('/')
  return { ...REQUEST.fromRow(row), projectId: projectId as ProjectId, buildId: buildId as BuildId }
}

function toProjectRequest(row: Selectable<Schema['request']>): ProjectRequest {
  const { target, ...request } = PROJECT_REQUEST.fromRow(row)
  return { ...request, ...target }
}

const toAnyRequest = (row: Selectable<Schema['request']>): Request | ProjectRequest =>
  row.run === null ? toProjectRequest(row) : toRequest(row)

function fromRequest(request: Request | ProjectRequest): Selectable<Schema['request']> {
  if (!isProjectRequest(request))
    return { ...REQUEST.toRow(request), build_key: buildKey(request.projectId, request.buildId) }
  const { project, what, before } = request
  return PROJECT_REQUEST.toRow({ ...request, target: { project, what, before } })
}

export function readRequests(db: Kysely<Schema>, runQuery: RunQuery) {
  const requests = () => db.selectFrom('request').selectAll()
  const ofBuild = (projectId: string, buildId: string) =>
    requests().where('build_key', '=', buildKey(projectId, buildId))
  const ofProjects = () => requests().where('run', 'is', null)

  return {
    async requestsOf(revisionKey) {
      const rows = await runQuery('requestsOf', { revisionKey }, (value) =>
        requests().where('lineage_key', '=', value('revisionKey')).orderBy('asked_at'),
      )
      return rows.map(toRequest)
    },

    async requestOf(interactionKey) {
      const row = await requests().where('ask_key', '=', interactionKey).executeTakeFirst()
      return row ? toAnyRequest(row) : null
    },

    async openRequest({ projectId, buildId, attempt }, action) {
      const ofAttempt = ofBuild(projectId, buildId).where('run', '=', attempt).where('action', '=', action)
      const row = await ofAttempt.where('state', 'in', OPEN_STATES).executeTakeFirst()
      return row ? toRequest(row) : null
    },

    async restartsOf(projectId, buildId) {
      const restarts = ofBuild(projectId, buildId).where('action', '=', 'restart')
      return (await restarts.orderBy('asked_at').execute()).map(toRequest)
    },

    async requestsToCheck(now, limit) {
      const due = requests().where('look_at', '<=', now).where('run', 'is not', null)
      return (await due.orderBy('look_at').limit(limit).execute()).map(toRequest)
    },

    async openProjectRequest(projectUuid) {
      const ofProject = ofProjects().where('project_uuid', '=', projectUuid)
      const row = await ofProject.where('state', 'in', OPEN).executeTakeFirst()
      return row ? toProjectRequest(row) : null
    },

    async projectRequestsToCheck(now, limit) {
      const due = ofProjects().where('look_at', '<=', now)
      return (await due.orderBy('look_at').limit(limit).execute()).map(toProjectRequest)
    },

    async requestsAfter({ requestedAt, id }, limit) {
      const later = requests().where(sql<boolean>`(asked_at, id) > (${requestedAt}, ${id})`)
      return (await later.orderBy('asked_at').orderBy('id').limit(limit).execute()).map(toAnyRequest)
    },

    async newestRequests(limit) {
      const newest = requests().orderBy('asked_at', 'desc').orderBy('id', 'desc')
      return (await newest.limit(limit).execute()).map(toAnyRequest)
    },
  } satisfies Partial<Reads>
}

// Literals, as in the index's own condition: otherwise the index is not used.
const OPEN = OPEN_STATES.map((state) => sql.lit(state))

export function writeRequests(db: Kysely<Schema>) {
  return {
    async insertRequest(request) {
      await db.insertInto('request').values(fromRequest(request)).execute()
    },

    async updateRequest(id, change) {
      if (Object.keys(change).length === 0) return
      await db.updateTable('request').set(CHANGE.toRow(change)).where('id', '=', id).execute()
    },
  } satisfies Partial<Tx>
}
