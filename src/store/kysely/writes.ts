import { randomInt } from 'node:crypto'
import type { Kysely } from 'kysely'
import { branchKey } from '../../domain/lineage.ts'
import { idOrder } from '../../domain/ids.ts'
import { isVerdict, toStatus } from '../../domain/status.ts'
import type { Schema } from '../schema.ts'
import type { Tx } from '../store.ts'
import type { DoorQueries } from './door.ts'
import { createReads } from './reads.ts'
import { fromDecision, fromLanes, fromMessage } from './rows.ts'

/** Stamps are random, so that a mark which was removed and made anew is never taken for the old one. */
const STAMP_MAX = 2 ** 48 - 1

/** @param locks whether rows that are read to be changed must be locked, since other transactions run side by side */
export function createTx(db: Kysely<Schema>, door: DoorQueries, { locks }: { locks: boolean }): Tx {
  return {
    ...createReads(db, door, { locks }),

    async insertFact(seen, { at, origin, lineageKey, branch, commitId }) {
      const [row] = await door.insertFact.execute(db, {
        at,
        origin,
        project_id: seen.projectId,
        build_id: seen.buildId,
        build_key: `${seen.projectId}/${seen.buildId}`,
        build_order: idOrder(seen.buildId),
        lineage_key: lineageKey,
        branch_key: branchKey(seen.projectId, branch),
        branch,
        commit_id: commitId,
        word: seen.word,
        verdict: isVerdict(toStatus(seen.word)) ? 1 : 0,
        details: JSON.stringify(seen.details),
      })
      return row!.seq
    },

    async countRepeat(factSeq) {
      await db
        .updateTable('fact')
        .set(({ eb }) => ({ repeats: eb('repeats', '+', 1) }))
        .where('seq', '=', factSeq)
        .execute()
    },

    async insertDelivery({ receivedAt, answer, factSeq, body }) {
      const [row] = await door.insertDelivery.execute(db, { received_at: receivedAt, answer, fact_seq: factSeq, body })
      return row!.id
    },

    async wakeLineage(lineageKey, dueAt, priority) {
      await door.wakeLineage.execute(db, {
        lineage_key: lineageKey,
        due_at: dueAt,
        priority,
        stamp: randomInt(STAMP_MAX),
      })
    },

    async settleLineage(lineageKey, stamp) {
      await db.deleteFrom('intake').where('lineage_key', '=', lineageKey).where('stamp', '=', stamp).execute()
    },

    async postponeLineage(lineageKey, dueAt) {
      await db.updateTable('intake').set({ due_at: dueAt }).where('lineage_key', '=', lineageKey).execute()
    },

    async placeFact(factSeq, episode) {
      await db.updateTable('fact').set({ episode }).where('seq', '=', factSeq).execute()
    },

    async keepDecision(decision) {
      const row = fromDecision(decision)
      await db
        .insertInto('decision')
        .values(row)
        .onConflict((conflict) => conflict.columns(['fact_seq', 'channel']).doUpdateSet(row))
        .execute()
    },

    async ensureCard({ subject, channel, quiet, mention }) {
      const flags = { quiet: quiet ? 1 : 0, mention: mention ? 1 : 0 }
      await db
        .insertInto('card')
        .values({ subject, channel, ...flags, attempts: 0, plain: 0 })
        .onConflict((conflict) => conflict.columns(['subject', 'channel']).doUpdateSet(flags))
        .execute()
    },

    async setLanes({ subject, channel }, lanes) {
      await db
        .updateTable('card')
        .set(fromLanes(lanes))
        .where('subject', '=', subject)
        .where('channel', '=', channel)
        .execute()
    },

    async setTrouble({ subject, channel }, { attempts, plain, problem }) {
      await db
        .updateTable('card')
        .set({ attempts, plain: plain ? 1 : 0, problem })
        .where('subject', '=', subject)
        .where('channel', '=', channel)
        .execute()
    },

    async insertMessage({ subject, channel, ...message }) {
      await db
        .insertInto('message')
        .values({ subject, channel, ...fromMessage(message) })
        .execute()
    },

    async updateMessage(key, change) {
      if (Object.keys(change).length === 0) return
      await db.updateTable('message').set(fromMessage(change)).where('key', '=', key).execute()
    },

    async deleteMessage(key) {
      await db.deleteFrom('message').where('key', '=', key).execute()
    },

    async insertCall({ lane, channel, at }) {
      await db.insertInto('pace').values({ lane, channel, at }).execute()
    },

    async forgetCalls(beforeMs) {
      await db.deleteFrom('pace').where('at', '<', beforeMs).execute()
    },

    async closeChannel({ channel, code, at, retryAt }) {
      const closed = { closed_code: code, closed_at: at, retry_at: retryAt }
      await db
        .insertInto('channel')
        .values({ id: channel, ...closed })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ closed_code: code, retry_at: retryAt }))
        .execute()
    },

    async reopenChannel(channel) {
      await db.deleteFrom('channel').where('id', '=', channel).execute()
    },

    async keepProject({ uuid, name, legacyId, rules, readAt }) {
      const row = { name, rules: rules === null ? null : JSON.stringify(rules), read_at: readAt }
      await db
        .insertInto('project')
        .values({ uuid, legacy_id: legacyId, ...row })
        .onConflict((conflict) =>
          conflict.column('uuid').doUpdateSet(legacyId === null ? row : { ...row, legacy_id: legacyId }),
        )
        .execute()
    },

    async linkLegacyProject(uuid, legacyId, readAt) {
      await db.updateTable('project').set({ legacy_id: legacyId, read_at: readAt }).where('uuid', '=', uuid).execute()
    },

    async forgetProjects(readBeforeMs) {
      await db.deleteFrom('project').where('read_at', '<', readBeforeMs).execute()
    },

    async claimHandle(handle, userId, at) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('person')
        .values({ handle: handle.toLowerCase(), user_id: userId, claimed_at: at })
        .onConflict((conflict) => conflict.column('handle').doNothing())
        .executeTakeFirst()
      return Number(numInsertedOrUpdatedRows ?? 0) > 0
    },

    async setLastDoneAt(job, at) {
      await db
        .insertInto('job')
        .values({ name: job, last_done_at: at })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ last_done_at: at }))
        .execute()
    },
  }
}
