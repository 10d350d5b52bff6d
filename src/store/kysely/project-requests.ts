import { sql, type Kysely } from 'kysely'
import { OPEN_STATES } from '../../domain/request.ts'
import type { Schema } from '../schema.ts'
import type { Reads, Tx } from '../store.ts'
import { fromProjectRequest, toProjectRequest } from './request-rows.ts'

type ProjectRequestReads = Pick<Reads, 'projectRequestOf' | 'openProjectRequest' | 'projectRequestsToLookAt'>

/** What people asked CI to do with projects. */
export function readProjectRequests(db: Kysely<Schema>): ProjectRequestReads {
  const requests = () => db.selectFrom('request').selectAll().where('run', 'is', null)

  return {
    async projectRequestOf(askKey) {
      const row = await requests().where('ask_key', '=', askKey).executeTakeFirst()
      return row ? toProjectRequest(row) : null
    },

    async openProjectRequest(projectUuid) {
      const row = await requests().where('project_uuid', '=', projectUuid).where('state', 'in', OPEN).executeTakeFirst()
      return row ? toProjectRequest(row) : null
    },

    async projectRequestsToLookAt(now, limit) {
      const rows = await requests().where('look_at', '<=', now).orderBy('look_at').limit(limit).execute()
      return rows.map(toProjectRequest)
    },
  }
}

export const writeProjectRequests = (db: Kysely<Schema>): Pick<Tx, 'insertProjectRequest'> => ({
  async insertProjectRequest(request) {
    await db.insertInto('request').values(fromProjectRequest(request)).execute()
  },
})

// Said as the index says it, which is of use only then.
const OPEN = OPEN_STATES.map((state) => sql.lit(state))
