import { sql, type Kysely } from 'kysely'
import { buildKey } from '../../domain/ids.ts'
import type { Schema } from '../schema.ts'
import type { Reads, Tx } from '../store.ts'
import { toKnownBuild } from './build-rows.ts'

/** Builds of which nothing has been heard for long, though they have not ended. */
export function readSilent(db: Kysely<Schema>): Pick<Reads, 'silentBuilds'> {
  const silent = ({ notAfter, notBefore }: Parameters<Reads['silentBuilds']>[0], limit: number) =>
    db
      .selectFrom('build')
      .selectAll()
      .where('at', '<=', notAfter)
      .where('at', '>=', notBefore)
      .where(({ or, eb }) => or([eb('asked_at', 'is', null), eb('asked_at', '<=', notAfter)]))
      .orderBy('at')
      .limit(limit)

  return {
    async silentBuilds(since, limit) {
      const running = await silent(since, limit).where('is_running', '=', sql.lit(1)).execute()
      const waiting = await silent(since, limit).where('status', '=', sql.lit('waiting')).execute()
      const all = [...running, ...waiting].sort((a, b) => a.at - b.at)
      return all.slice(0, limit).map(toKnownBuild)
    },
  }
}

export const writeSilent = (db: Kysely<Schema>): Pick<Tx, 'setAsked'> => ({
  async setAsked(builds, at) {
    const keys = builds.map(({ projectId, buildId }) => buildKey(projectId, buildId))
    if (keys.length > 0) await db.updateTable('build').set({ asked_at: at }).where('build_key', 'in', keys).execute()
  },
})
