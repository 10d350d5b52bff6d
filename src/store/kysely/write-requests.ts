import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Tx } from '../store.ts'
import { fromRequest, fromRequestChange } from './request-rows.ts'

type RequestWrites = Pick<Tx, 'insertRequest' | 'updateRequest'>

/** What people asked of CI. */
export function writeRequests(db: Kysely<Schema>): RequestWrites {
  return {
    async insertRequest(request) {
      await db.insertInto('request').values(fromRequest(request)).execute()
    },

    async updateRequest(id, change) {
      if (Object.keys(change).length === 0) return
      await db.updateTable('request').set(fromRequestChange(change)).where('id', '=', id).execute()
    },
  }
}
