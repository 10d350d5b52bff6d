import type { Kysely } from 'kysely'
import { branchKey } from '../../domain/revision.ts'
import { buildKey, idOrder } from '../../domain/ids.ts'
import { isVerdict, toStatus } from '../../domain/status.ts'
import type { Schema } from '../schema.ts'
import type { Tx } from '../store.ts'
import { columns, type Ask, type Insert } from './ask.ts'
import { fromDecision } from './fact-rows.ts'

type FactWrites = Pick<Tx, 'insertFact' | 'countRepeat' | 'insertDelivery' | 'placeFact' | 'keepDecision'>

/** What was observed, how it came, and what was decided about it. */
export function writeFacts(db: Kysely<Schema>, ask: Ask, insert: Insert): FactWrites {
  return {
    async insertFact(seen, { at, origin, priority, revisionKey, branch, commitId }) {
      const fact = {
        at,
        origin,
        project_id: seen.projectId,
        build_id: seen.buildId,
        build_key: buildKey(seen.projectId, seen.buildId),
        build_order: idOrder(seen.buildId),
        lineage_key: revisionKey,
        branch_key: branchKey(seen.projectId, branch),
        branch,
        commit_id: commitId,
        word: seen.word,
        verdict: isVerdict(toStatus(seen.word)) ? 1 : 0,
        details: JSON.stringify(seen.details),
        priority,
      }
      return insert('fact', 'seq', fact)
    },

    async countRepeat(factSeq) {
      await db
        .updateTable('fact')
        .set(({ eb }) => ({ repeats: eb('repeats', '+', 1) }))
        .where('seq', '=', factSeq)
        .execute()
    },

    async insertDelivery({ receivedAt, answer, factSeq, body }) {
      return insert('delivery', 'id', { received_at: receivedAt, answer, fact_seq: factSeq, body })
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
