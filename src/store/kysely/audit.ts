import { sql, type Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Reads } from '../store.ts'
import { toAnyRequest } from './request-rows.ts'

/** What people asked of CI, whatever it was about, in the order of asking. */
export function readAudit(db: Kysely<Schema>): Pick<Reads, 'requestsAfter' | 'newestRequests'> {
  const requests = () => db.selectFrom('request').selectAll()

  return {
    async requestsAfter({ askedAt, id }, limit) {
      const rows = await requests()
        .where(sql<boolean>`(asked_at, id) > (${askedAt}, ${id})`)
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
  }
}
