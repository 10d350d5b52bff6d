import type { Kysely } from 'kysely'
import { buildKey } from '../../domain/ids.ts'
import { OPEN_STATES } from '../../domain/request.ts'
import type { Schema } from '../schema.ts'
import type { Reads } from '../store.ts'
import type { Ask } from './ask.ts'
import { toRequest } from './request-rows.ts'

type RequestReads = Pick<Reads, 'requestsOf' | 'requestOf' | 'openRequest' | 'restartsOf' | 'requestsToLookAt'>

/** What people asked CI to do with builds. */
export function readRequests(db: Kysely<Schema>, ask: Ask): RequestReads {
  return {
    async requestsOf(revisionKey) {
      const rows = await ask('requestsOf', { revisionKey }, (value) =>
        db.selectFrom('request').selectAll().where('lineage_key', '=', value('revisionKey')).orderBy('asked_at'),
      )
      return rows.map(toRequest)
    },

    async requestOf(askKey) {
      const row = await db
        .selectFrom('request')
        .selectAll()
        .where('ask_key', '=', askKey)
        .where('run', 'is not', null)
        .executeTakeFirst()
      return row ? toRequest(row) : null
    },

    async openRequest({ projectId, buildId, run }, action) {
      const row = await db
        .selectFrom('request')
        .selectAll()
        .where('build_key', '=', buildKey(projectId, buildId))
        .where('run', '=', run)
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

    async requestsToLookAt(now, limit) {
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
  }
}
