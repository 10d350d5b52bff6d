import { randomInt } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Tx } from '../store.ts'
import { columns, type Ask } from './ask.ts'

/** Stamps are random, so that a mark which was removed and made anew is never taken for the old one. */
const STAMP_MAX = 2 ** 48 - 1

/** Put off once, a revision is no less urgent than others. */
const PUT_OFF_PRIORITY = 0

type IntakeWrites = Pick<Tx, 'wakeRevision' | 'lockName' | 'settleRevision' | 'postponeRevision'>

/** What is to be taken in, and when. */
export function writeIntake(db: Kysely<Schema>, ask: Ask, locks: boolean): IntakeWrites {
  return {
    async lockName(name) {
      if (locks) await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 2))`.execute(db)
    },

    async wakeRevision(revisionKey, dueAt, priority) {
      const mark = { lineage_key: revisionKey, due_at: dueAt, priority, stamp: randomInt(STAMP_MAX) }
      await ask('wakeRevision', mark, (value) =>
        db
          .insertInto('intake')
          .values(columns(mark, value))
          .onConflict((conflict) =>
            conflict.column('lineage_key').doUpdateSet(({ eb, ref }) => {
              const smaller = (column: 'due_at' | 'priority') =>
                eb
                  .case()
                  .when(`intake.${column}`, '<', ref(`excluded.${column}`))
                  .then(ref(`intake.${column}`))
                  .else(ref(`excluded.${column}`))
                  .end()
              return { stamp: ref('excluded.stamp'), due_at: smaller('due_at'), priority: smaller('priority') }
            }),
          ),
      )
    },

    async settleRevision(revisionKey, stamp) {
      await ask('settleRevision', { revisionKey, stamp }, (value) =>
        db.deleteFrom('intake').where('lineage_key', '=', value('revisionKey')).where('stamp', '=', value('stamp')),
      )
    },

    async postponeRevision(revisionKey, dueAt) {
      await db
        .insertInto('intake')
        .values({ lineage_key: revisionKey, due_at: dueAt, priority: PUT_OFF_PRIORITY, stamp: randomInt(STAMP_MAX) })
        .onConflict((conflict) => conflict.column('lineage_key').doUpdateSet({ due_at: dueAt }))
        .execute()
    },
  }
}
