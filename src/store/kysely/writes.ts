import { randomInt } from 'node:crypto'
import type { Kysely } from 'kysely'
import { branchKey } from '../../domain/lineage.ts'
import { idOrder } from '../../domain/ids.ts'
import { isVerdict, toStatus } from '../../domain/status.ts'
import type { Schema } from '../schema.ts'
import type { Tx } from '../store.ts'
import { createAsk, type Compiled } from './ask.ts'
import { createReads } from './reads.ts'
import { fromDecision, fromLanes, fromMessage } from './rows.ts'

/** Stamps are random, so that a mark which was removed and made anew is never taken for the old one. */
const STAMP_MAX = 2 ** 48 - 1

/** @param locks whether rows that are read to be changed must be locked, since other transactions run side by side */
export function createTx(db: Kysely<Schema>, compiled: Compiled, { locks }: { locks: boolean }): Tx {
  const ask = createAsk(db, compiled)
  return {
    ...createReads(db, compiled, { locks }),

    async insertFact(seen, { at, origin, lineageKey, branch, commitId }) {
      const fact = {
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
      }
      const [row] = await ask('insertFact', fact, (value) =>
        db.insertInto('fact').values(columns(fact, value)).returning('seq'),
      )
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
      const delivery = { received_at: receivedAt, answer, fact_seq: factSeq, body }
      const [row] = await ask('insertDelivery', delivery, (value) =>
        db.insertInto('delivery').values(columns(delivery, value)).returning('id'),
      )
      return row!.id
    },

    async wakeLineage(lineageKey, dueAt, priority) {
      const mark = { lineage_key: lineageKey, due_at: dueAt, priority, stamp: randomInt(STAMP_MAX) }
      await ask('wakeLineage', mark, (value) =>
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

    async settleLineage(lineageKey, stamp) {
      await ask('settleLineage', { lineageKey, stamp }, (value) =>
        db.deleteFrom('intake').where('lineage_key', '=', value('lineageKey')).where('stamp', '=', value('stamp')),
      )
    },

    async postponeLineage(lineageKey, dueAt) {
      await db.updateTable('intake').set({ due_at: dueAt }).where('lineage_key', '=', lineageKey).execute()
    },

    async placeFact(factSeq, episode) {
      await ask('placeFact', { factSeq, episode }, (value) =>
        db
          .updateTable('fact')
          .set({ episode: value('episode') })
          .where('seq', '=', value('factSeq')),
      )
    },

    async keepDecision(decision) {
      const row = fromDecision(decision)
      await ask('keepDecision', row, (value) =>
        db
          .insertInto('decision')
          .values(columns(row, value))
          .onConflict((conflict) => conflict.columns(['fact_seq', 'channel']).doUpdateSet(columns(row, value))),
      )
    },

    async ensureCard({ subject, channel, quiet, mention }) {
      const flags = { quiet: quiet ? 1 : 0, mention: mention ? 1 : 0 }
      await ask('ensureCard', { subject, channel, ...flags }, (value) =>
        db
          .insertInto('card')
          .values({
            subject: value('subject'),
            channel: value('channel'),
            ...columns(flags, value),
            attempts: 0,
            plain: 0,
          })
          .onConflict((conflict) => conflict.columns(['subject', 'channel']).doUpdateSet(columns(flags, value))),
      )
    },

    async setLanes({ subject, channel }, lanes) {
      const row = fromLanes(lanes)
      await ask('setLanes', { subject, channel, ...row }, (value) =>
        db
          .updateTable('card')
          .set(columns(row, value))
          .where('subject', '=', value('subject'))
          .where('channel', '=', value('channel')),
      )
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
      const row = { subject, channel, ...fromMessage(message) }
      await ask('insertMessage', row, (value) => db.insertInto('message').values(columns(row, value)))
    },

    async updateMessage(key, change) {
      if (Object.keys(change).length === 0) return
      const row = fromMessage(change)
      await ask(`updateMessage ${Object.keys(row).join(' ')}`, { ...row, key }, (value) =>
        db.updateTable('message').set(columns(row, value)).where('key', '=', value('key')),
      )
    },

    async deleteMessage(key) {
      await db.deleteFrom('message').where('key', '=', key).execute()
    },

    async insertCall(call) {
      await ask('insertCall', call, (value) => db.insertInto('pace').values(columns(call, value)))
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

/** The same columns, each standing for the value of its name. */
const columns = <Row extends object>(row: Row, value: (name: keyof Row & string) => Row[keyof Row]): Row =>
  Object.fromEntries(Object.keys(row).map((name) => [name, value(name as keyof Row & string)])) as Row
