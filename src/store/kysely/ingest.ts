import { sql, type Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { OnNews, Reads, Tx } from '../store.ts'
import { together } from '../../lib/async.ts'
import { type RunQuery, columns, lock } from './query.ts'
import { randomInt } from 'node:crypto'

/** Build events read per revision in one round: several may be of one revision. */
const EVENTS_PER_REVISION = 4

export function readIngest(db: Kysely<Schema>, runQuery: RunQuery, locks: boolean) {
  return {
    async dueIngest(now, limit) {
      const [woken, fresh] = await together([
        runQuery(`dueWoken ${limit}`, { now }, (value) =>
          db
            .selectFrom('intake')
            .select(['lineage_key', 'priority', 'due_at as at'])
            .where('due_at', '<=', value('now'))
            .orderBy('priority')
            .orderBy('due_at')
            .limit(sql.lit(limit)),
        ),
        runQuery(`dueFresh ${limit}`, {}, () =>
          db
            .selectFrom('fact')
            .select(['lineage_key', 'priority', 'at', 'build_key'])
            .where('episode', 'is', null)
            .where(({ not, exists, selectFrom }) =>
              not(exists(selectFrom('intake').select('stamp').whereRef('intake.lineage_key', '=', 'fact.lineage_key'))),
            )
            .orderBy('priority')
            .orderBy('seq')
            .limit(sql.lit(limit * EVENTS_PER_REVISION)),
        ),
      ])
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

    async nextIngestAt(now) {
      const [next] = await runQuery('nextIngestAt', { now }, (value) =>
        db
          .selectFrom('intake')
          .select(({ fn }) => fn.min('due_at').as('at'))
          .where('due_at', '>', value('now')),
      )
      return next?.at ?? null
    },

    async ingestOf(revisionKey) {
      const [, [row]] = await together([
        // There may be no row to lock yet, so this is an advisory lock.
        locks ? lock(db, runQuery, 'revision', revisionKey) : null,
        runQuery('ingestOf', { revisionKey }, (value) =>
          db.selectFrom('intake').select('stamp').where('lineage_key', '=', value('revisionKey')),
        ),
      ])
      return row ? { revisionKey, stamp: row.stamp } : null
    },
  } satisfies Partial<Reads>
}

/** Stamps are random, so that a mark that was removed and made again is not taken for the old one. */
const STAMP_MAX = 2 ** 48 - 1

/** A postponed revision gets the highest urgency: it may hold a failure. */
const PUT_OFF_PRIORITY = 0

export function writeIngest(
  db: Kysely<Schema>,
  runQuery: RunQuery,
  { locks, onNews }: { locks: boolean; onNews: OnNews },
) {
  return {
    async lockName(name) {
      if (locks) await lock(db, runQuery, 'other', name)
    },

    async wakeRevision(revisionKey, dueAt, priority) {
      onNews('ingest')
      const mark = { lineage_key: revisionKey, due_at: dueAt, priority, stamp: randomInt(STAMP_MAX) }
      await runQuery('wakeRevision', mark, (value) =>
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
      await runQuery('settleRevision', { revisionKey, stamp }, (value) =>
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
  } satisfies Partial<Tx>
}
