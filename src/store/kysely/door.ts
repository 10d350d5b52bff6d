import type { Kysely, Selectable } from 'kysely'
import type { Schema } from '../schema.ts'
import { prepare } from './prepared.ts'

/** The newest facts of one build that are folded; more than any build has, less than a flood of repeats could make. */
const BUILD_FACTS_MAX = 500

type FactValues = Omit<Selectable<Schema['fact']>, 'seq' | 'episode' | 'repeats'>

export type DoorQueries = ReturnType<typeof createDoorQueries>

/** The queries on the way of a delivery, compiled once. `db` says in which dialect. */
export const createDoorQueries = (db: Kysely<Schema>) => ({
  factsOfBuild: prepare<{ build_key: string }, Selectable<Schema['fact']>>((value) =>
    db
      .selectFrom('fact')
      .selectAll()
      .where('build_key', '=', value('build_key'))
      .orderBy('seq', 'desc')
      .limit(BUILD_FACTS_MAX),
  ),

  insertFact: prepare<FactValues, { seq: number }>((value) =>
    db
      .insertInto('fact')
      .values({
        at: value('at'),
        origin: value('origin'),
        project_id: value('project_id'),
        build_id: value('build_id'),
        build_key: value('build_key'),
        build_order: value('build_order'),
        lineage_key: value('lineage_key'),
        branch_key: value('branch_key'),
        branch: value('branch'),
        commit_id: value('commit_id'),
        word: value('word'),
        verdict: value('verdict'),
        details: value('details'),
      })
      .returning('seq'),
  ),

  insertDelivery: prepare<Omit<Selectable<Schema['delivery']>, 'id'>, { id: number }>((value) =>
    db
      .insertInto('delivery')
      .values({
        received_at: value('received_at'),
        answer: value('answer'),
        fact_seq: value('fact_seq'),
        body: value('body'),
      })
      .returning('id'),
  ),

  wakeLineage: prepare<Selectable<Schema['intake']>, unknown>((value) =>
    db
      .insertInto('intake')
      .values({
        lineage_key: value('lineage_key'),
        due_at: value('due_at'),
        priority: value('priority'),
        stamp: value('stamp'),
      })
      .onConflict((conflict) =>
        conflict.column('lineage_key').doUpdateSet(({ eb, ref }) => ({
          stamp: ref('excluded.stamp'),
          due_at: eb
            .case()
            .when('intake.due_at', '<', ref('excluded.due_at'))
            .then(ref('intake.due_at'))
            .else(ref('excluded.due_at'))
            .end(),
          priority: eb
            .case()
            .when('intake.priority', '<', ref('excluded.priority'))
            .then(ref('intake.priority'))
            .else(ref('excluded.priority'))
            .end(),
        })),
      ),
  ),
})
