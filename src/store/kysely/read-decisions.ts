import type { Kysely } from 'kysely'
import type { Fact } from '../../domain/fact.ts'
import type { Schema } from '../schema.ts'
import type { Reads } from '../store.ts'
import type { Ask } from './ask.ts'
import { toDecision, toPlacedFact } from './fact-rows.ts'

type DecisionReads = Pick<Reads, 'decisionsOf' | 'decisionsOfFact' | 'noticeFacts'>

/** Who is told what, and why. */
export function readDecisions(db: Kysely<Schema>, ask: Ask): DecisionReads {
  return {
    async decisionsOf({ subject, channel }) {
      const rows = await ask('decisionsOf', { subject, channel }, (value) =>
        db
          .selectFrom('decision')
          .selectAll()
          .where('subject', '=', value('subject'))
          .where('channel', '=', value('channel'))
          .orderBy('fact_seq'),
      )
      return rows.map(toDecision)
    },

    async decisionsOfFact(factSeq) {
      const rows = await db
        .selectFrom('decision')
        .selectAll()
        .where('fact_seq', '=', factSeq)
        .orderBy('channel')
        .execute()
      return rows.map(toDecision)
    },

    async noticeFacts(day, channel, limit) {
      const noted = db
        .selectFrom('fact')
        .innerJoin('decision', 'decision.fact_seq', 'fact.seq')
        .where('decision.notice_day', '=', day)
        .where('decision.channel', '=', channel)
        .where('decision.verdict', '=', 'tell')
      const rows: Fact[] = (await noted.selectAll('fact').orderBy('fact.seq').limit(limit).execute()).map(toPlacedFact)
      const counts = await noted
        .select(({ fn }) => ['fact.word', fn.countAll<number>().as('builds')])
        .groupBy('fact.word')
        .execute()
      return { facts: rows, counts: new Map(counts.map(({ word, builds }) => [word, Number(builds)])) }
    },
  }
}
