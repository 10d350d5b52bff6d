import type { Kysely } from 'kysely'
import { branchKey } from '../../domain/lineage.ts'
import { buildKey, idOrder } from '../../domain/ids.ts'
import { isVerdict, toStatus } from '../../domain/status.ts'
import type { Schema } from '../schema.ts'
import type { Tx } from '../store.ts'
import { columns, type Ask } from './ask.ts'
import { fromDecision } from './fact-rows.ts'

type FactWrites = Pick<Tx, 'insertFact' | 'countRepeat' | 'insertDelivery' | 'placeFact' | 'keepDecision'>

/** What was observed, how it came, and what was decided about it. */
export function writeFacts(db: Kysely<Schema>, ask: Ask): FactWrites {
  return {
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
  }
}
