import { sql, type Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Reads } from '../store.ts'
import type { Ask } from './ask.ts'

/** Facts looked at for one round of taking in: several may be of one revision. */
const FACTS_PER_LINEAGE = 4

type IntakeReads = Pick<Reads, 'dueIntake' | 'intakeOf'>

/** What waits to be taken in. */
export function readIntake(db: Kysely<Schema>, ask: Ask, locks: boolean): IntakeReads {
  return {
    async dueIntake(now, limit) {
      const woken = await ask(`dueWoken ${limit}`, { now }, (value) =>
        db
          .selectFrom('intake')
          .select(['lineage_key', 'priority', 'due_at as at'])
          .where('due_at', '<=', value('now'))
          .orderBy('priority')
          .orderBy('due_at')
          .limit(sql.lit(limit)),
      )
      const fresh = await ask(`dueFresh ${limit}`, {}, () =>
        db
          .selectFrom('fact')
          .select(['lineage_key', 'priority', 'at', 'build_key'])
          .where('episode', 'is', null)
          .where(({ not, exists, selectFrom }) =>
            not(exists(selectFrom('intake').select('stamp').whereRef('intake.lineage_key', '=', 'fact.lineage_key'))),
          )
          .orderBy('priority')
          .orderBy('seq')
          .limit(sql.lit(limit * FACTS_PER_LINEAGE)),
      )
      const due = [...woken.map((row) => ({ ...row, build_key: null })), ...fresh]
      const byRevision = Map.groupBy(
        due.sort((a, b) => a.priority - b.priority || a.at - b.at),
        (row) => row.lineage_key,
      )
      return [...byRevision].slice(0, limit).map(([revisionKey, rows]) => ({
        revisionKey,
        buildKeys: [...new Set(rows.flatMap((row) => row.build_key ?? []))],
      }))
    },

    async intakeOf(revisionKey) {
      // The mark may not be there yet, and so be nothing to lock.
      if (locks) await sql`select pg_advisory_xact_lock(${intakeLock(revisionKey)})`.execute(db)
      const [row] = await ask('intakeOf', { revisionKey }, (value) =>
        db.selectFrom('intake').select('stamp').where('lineage_key', '=', value('revisionKey')),
      )
      return row ? { revisionKey, stamp: row.stamp } : null
    },
  }
}

/** What stands for the taking in of a revision among all the database's locks. */
const intakeLock = (revisionKey: string) => sql`hashtextextended(${revisionKey}, 1)`
