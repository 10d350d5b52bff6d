import { randomInt } from 'node:crypto'
import type { Kysely } from 'kysely'
import { branchKey } from '../../domain/lineage.ts'
import { idOrder } from '../../domain/ids.ts'
import { isVerdict, toStatus } from '../../domain/status.ts'
import type { Schema } from '../schema.ts'
import type { Tx } from '../store.ts'
import { createAsk } from './ask.ts'
import { createReads, type Asking } from './reads.ts'
import { buildKey, fromDecision, fromLanes, fromMessage, fromRequest, fromRequestChange } from './rows.ts'

/** Stamps are random, so that a mark which was removed and made anew is never taken for the old one. */
const STAMP_MAX = 2 ** 48 - 1

/** Put off once, a lineage is no less urgent than others. */
const PUT_OFF_PRIORITY = 0

export function createTx(db: Kysely<Schema>, asking: Asking): Tx {
  const ask = createAsk(asking.compiled, asking.execute)
  return {
    ...createReads(db, asking),

    async insertFact(seen, { at, origin, priority, lineageKey, branch, commitId }) {
      const fact = {
        at,
        origin,
        project_id: seen.projectId,
        build_id: seen.buildId,
        build_key: buildKey(seen.projectId, seen.buildId),
        build_order: idOrder(seen.buildId),
        lineage_key: lineageKey,
        branch_key: branchKey(seen.projectId, branch),
        branch,
        commit_id: commitId,
        word: seen.word,
        verdict: isVerdict(toStatus(seen.word)) ? 1 : 0,
        details: JSON.stringify(seen.details),
        priority,
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
      await db
        .insertInto('intake')
        .values({ lineage_key: lineageKey, due_at: dueAt, priority: PUT_OFF_PRIORITY, stamp: randomInt(STAMP_MAX) })
        .onConflict((conflict) => conflict.column('lineage_key').doUpdateSet({ due_at: dueAt }))
        .execute()
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

    async keepProject({ uuid, name, legacyId, type, rules, readAt }) {
      const row = { name, type, rules: rules === null ? null : JSON.stringify(rules), read_at: readAt }
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

    async keepBuild(build) {
      const row = {
        build_key: buildKey(build.projectId, build.buildId),
        project_id: build.projectId,
        build_id: build.buildId,
        build_order: idOrder(build.buildId),
        branch_key: branchKey(build.projectId, build.branch),
        branch: build.branch,
        lineage_key: build.lineageKey,
        episode: build.episode,
        run: build.run,
        status: build.status,
        word: build.word,
        at: build.at,
        is_running: build.status === 'started' ? 1 : 0,
        build_uuid: build.buildUuid,
      }
      await ask('keepBuild', row, (value) =>
        db
          .insertInto('build')
          .values(columns(row, value))
          .onConflict((conflict) => conflict.column('build_key').doUpdateSet(columns(row, value))),
      )
    },

    async forgetBuild(projectId, buildId) {
      await db.deleteFrom('build').where('build_key', '=', buildKey(projectId, buildId)).execute()
    },

    async hearProject({ projectId, name, fullName, projectUuid, at }) {
      const row = { project_id: projectId, name, full_name: fullName, project_uuid: projectUuid, at }
      await ask('hearProject', row, (value) =>
        db
          .insertInto('heard')
          .values(columns(row, value))
          .onConflict((conflict) => conflict.column('project_id').doUpdateSet(columns(row, value))),
      )
    },

    async insertRequest(request) {
      await db.insertInto('request').values(fromRequest(request)).execute()
    },

    async updateRequest(id, change) {
      if (Object.keys(change).length === 0) return
      await db.updateTable('request').set(fromRequestChange(change)).where('id', '=', id).execute()
    },
  }
}

/** The same columns, each standing for the value of its name. */
const columns = <Row extends object>(row: Row, value: (name: keyof Row & string) => Row[keyof Row]): Row =>
  Object.fromEntries(Object.keys(row).map((name) => [name, value(name as keyof Row & string)])) as Row
