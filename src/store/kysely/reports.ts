import { sql, type Kysely, type SqlBool } from 'kysely'
import { NO_FAILURE, type FailureReport } from '../../domain/builds/failure.ts'
import type { ReportReads, ReportWrites } from '../records.ts'
import type { Schema } from '../schema.ts'
import { amongKeys, columns, type RunQuery } from './query.ts'

export const readReports = (db: Kysely<Schema>, runQuery: RunQuery): ReportReads => ({
  async reportsOf(buildKey) {
    const rows = await runQuery('reportsOf', { buildKey }, (value) =>
      db
        .selectFrom('report')
        .select(['id', ATTEMPT_SEQ.as('attemptSeq'), 'received_at as receivedAt', 'body'])
        .where('build_key', '=', value('buildKey'))
        .orderBy('id'),
    )
    return rows.map(({ body, ...row }) => ({ ...row, report: toReport(body) }))
  },

  async reportedBuilds(projectIds, since, limit) {
    const rows = await db
      .selectFrom(amongKeys(projectIds).as('asked'))
      // All keys that begin with `project_id/`: `0` comes right after `/`.
      .innerJoin('report', (join) =>
        join.on(sql<boolean>`build_key >= asked.key || '/' and build_key < asked.key || '0'`),
      )
      .select(({ fn }) => ['build_key', fn.max('id').as('newest'), fn.countAll().as('reports')])
      .where('received_at', '>=', since)
      .groupBy('build_key')
      .orderBy('newest', 'desc')
      .limit(limit)
      .execute()
    return new Map(rows.map(({ build_key: buildKey, reports }) => [buildKey, Number(reports)]))
  },
})

/** What came before its build is about the attempt that the build's first build event opened. */
const ATTEMPT_SEQ = sql<number>`case when attempt_seq > 0 then attempt_seq
  else coalesce((select min(seq) from fact where fact.build_key = report.build_key), 0) end`

/** No build event of the report's build is known. */
export const IS_OF_NO_BUILD = sql<SqlBool>`not exists (select 1 from fact where fact.build_key = report.build_key)`

/** Fields that are null are not stored. */
function toReport(body: string): FailureReport {
  const known = JSON.parse(body) as FailureReport
  return { ...NO_REPORT, ...known, failures: known.failures.map((one) => ({ ...NO_FAILURE, ...one })) }
}

const NO_REPORT = { attempt: null, part: null, tests: null }

export const writeReports = (db: Kysely<Schema>, runQuery: RunQuery): ReportWrites => ({
  async insertReport({ buildKey, attemptSeq, receivedAt, report }) {
    const row = {
      build_key: buildKey,
      attempt_seq: attemptSeq,
      received_at: receivedAt,
      body: JSON.stringify(report, (_, value: unknown) => value ?? undefined),
    }
    await runQuery('insertReport', row, (value) => db.insertInto('report').values(columns(row, value)))
  },

  async moveReports(from, to) {
    await runQuery('moveReports', { from, to }, (value) =>
      db
        .updateTable('report')
        .set({ build_key: value('to') })
        .where('build_key', '=', value('from')),
    )
  },

  async removeReport(id) {
    await db.deleteFrom('report').where('id', '=', id).execute()
  },

  async removeEarlyReports(receivedBefore, limit) {
    const early = db
      .selectFrom('report')
      .select('id')
      .where('attempt_seq', '=', sql.lit(0))
      .where('received_at', '<', receivedBefore)
      .where(IS_OF_NO_BUILD)
      .orderBy('received_at')
      .limit(limit)
    const { numDeletedRows } = await db.deleteFrom('report').where('id', 'in', early).executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  },

  async boundEarlyReports(kept, projectId) {
    // Each new early report pushes one past this offset, which is removed if its build is still unknown.
    const crossing = db
      .selectFrom('report')
      .select('id')
      .where('attempt_seq', '=', sql.lit(0))
      .$if(projectId !== null, (query) =>
        query.where(OF_PROJECT, '>=', `${projectId}/`).where(OF_PROJECT, '<', `${projectId}0`),
      )
      .orderBy('received_at', 'desc')
      .limit(CROSSING_MAX)
      .offset(kept)
    await db.deleteFrom('report').where('id', 'in', crossing).where(IS_OF_NO_BUILD).execute()
  },
})

/** Not by the index of builds, which has all reports of the project. */
const OF_PROJECT = sql<string>`build_key || ''`

/** More than one, because processes that store reports at the same time do not see each other's. */
const CROSSING_MAX = 10
