import { sql, type Kysely } from 'kysely'
import { buildKey } from '../../domain/ids.ts'
import type { PlacedFact } from '../../domain/revision.ts'
import type { Schema } from '../schema.ts'
import type { Reads } from '../store.ts'
import type { Ask } from './ask.ts'
import { toPlacedFact } from './fact-rows.ts'

/** The newest facts of one build that are folded; more than any build has, less than a flood of repeats could make. */
const BUILD_FACTS_MAX = 500

/** So many outcomes of newer builds are looked at: one that overtook this build stands near it. */
const OVERTAKERS_MAX = 100

type FactReads = Pick<
  Reads,
  | 'factsOfBuild'
  | 'factsOfBuilds'
  | 'factsOfEpisode'
  | 'newestEpisode'
  | 'verdictsBefore'
  | 'isOvertaken'
  | 'revisionsAfter'
>

/** What was observed of builds: by build, by episode, by branch. */
export function readFacts(db: Kysely<Schema>, ask: Ask, locks: boolean): FactReads {
  const facts = () => db.selectFrom('fact').selectAll()
  const verdicts = (key: string) =>
    db.selectFrom('fact').where('branch_key', '=', key).where('verdict', '=', sql.lit(1))

  return {
    async factsOfBuild(projectId, buildId) {
      const key = buildKey(projectId, buildId)
      // Two first facts of one build that arrive side by side must not each think itself the first.
      if (locks) await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(db)
      const rows = await ask('factsOfBuild', { key }, (value) =>
        facts().where('build_key', '=', value('key')).orderBy('seq', 'desc').limit(sql.lit(BUILD_FACTS_MAX)),
      )
      return rows.toReversed().map(toPlacedFact)
    },

    async factsOfBuilds(buildKeys) {
      const found: PlacedFact[] = []
      for (const key of buildKeys) {
        const rows = await ask('factsOfKey', { key }, (value) => facts().where('build_key', '=', value('key')))
        found.push(...rows.map(toPlacedFact))
      }
      return found.sort((a, b) => a.seq - b.seq)
    },

    async factsOfEpisode(revisionKey, episode) {
      const rows = await ask('factsOfEpisode', { revisionKey, episode }, (value) =>
        facts().where('lineage_key', '=', value('revisionKey')).where('episode', '=', value('episode')).orderBy('seq'),
      )
      return rows.map(toPlacedFact)
    },

    async newestEpisode(revisionKey) {
      const [row] = await ask('newestEpisode', { revisionKey }, (value) => {
        const placed = db
          .selectFrom('fact')
          .where('lineage_key', '=', value('revisionKey'))
          .where('episode', 'is not', null)
        const newest = placed.select(({ fn }) => fn.max('episode').as('newest'))
        return placed
          .select(({ fn }) => [fn.max('at').as('last_at'), fn.countAll<number>().as('facts')])
          .select(({ fn }) => fn.max('episode').as('episode'))
          .where('episode', '=', newest)
      })
      if (!row || row.episode === null) return null
      return { episode: row.episode, lastAt: Number(row.last_at), facts: Number(row.facts) }
    },

    async verdictsBefore(branchKey, buildOrder, limit) {
      const rows = await ask(`verdictsBefore ${limit}`, { branchKey, buildOrder }, (value) =>
        verdicts(value('branchKey'))
          .selectAll()
          .where('build_order', '<=', value('buildOrder'))
          .orderBy('build_order', 'desc')
          .orderBy('seq', 'desc')
          .limit(sql.lit(limit)),
      )
      return rows.map(toPlacedFact)
    },

    async isOvertaken(branchKey, buildOrder, seq) {
      const [older] = await ask('isOvertaken', { branchKey, buildOrder, seq }, (value) =>
        db
          .selectFrom(
            verdicts(value('branchKey'))
              .select('seq')
              .where('build_order', '>', value('buildOrder'))
              .orderBy('build_order')
              .limit(sql.lit(OVERTAKERS_MAX))
              .as('next'),
          )
          .select('seq')
          .where('seq', '<', value('seq'))
          .limit(sql.lit(1)),
      )
      return older !== undefined
    },

    async revisionsAfter(branchKey, buildOrder, limit) {
      const rows = await ask(`revisionsAfter ${limit}`, { branchKey, buildOrder }, (value) =>
        db
          .selectFrom('build')
          .select('lineage_key')
          .where('branch_key', '=', value('branchKey'))
          .where('build_order', '>', value('buildOrder'))
          // Only what passed can have recovered; of a build with several runs the newest says nothing of the others.
          .where(({ or, eb }) => or([eb('status', '=', sql.lit('success')), eb('run', '>', sql.lit(1))]))
          .orderBy('build_order')
          .limit(sql.lit(limit)),
      )
      return rows.map(({ lineage_key: revisionKey }) => revisionKey)
    },
  }
}
