import { type Selectable, sql, type Kysely } from 'kysely'
import {
  beganBy,
  NO_DETAILS,
  withCredibleTimes,
  type BuildDetails,
  type ReceivedEvent,
  type Origin,
  type BuildEvent,
} from '../../domain/builds/build-event.ts'
import { type BuildId, type ProjectId, buildKey, isIdDigits, orderOf } from '../../domain/ids.ts'
import { branchKey } from '../../domain/builds/revision.ts'
import type { Judgement } from '../../domain/builds/streak.ts'
import type { Change, RuleResult } from '../../domain/rules/rule.ts'
import { isRed, toStatus, isVerdict, type Status } from '../../domain/builds/status.ts'
import { hasStreak } from '../../domain/builds/stream.ts'
import { together } from '../../lib/async.ts'
import type { Schema } from '../schema.ts'
import type { CardDecision, StoredDecision } from '../records.ts'
import type { OnNews, Reads, Tx } from '../store.ts'
import { type RunQuery, columns, lock } from './query.ts'
import { type Columns, FLAG, mapping } from './rows.ts'

export const toStored = (row: Selectable<Schema['fact']>): BuildEvent =>
  withDetails(row, JSON.parse(row.details) as BuildDetails)

const toVerdict = (row: Selectable<Schema['fact']>): BuildEvent => withDetails(row, { ...NO_DETAILS, ...toldIn(row) })

// A branch's history needs no other details. Details that cannot be parsed must not hide the state of the branch.
function toldIn({
  details,
}: Selectable<Schema['fact']>): Pick<BuildDetails, 'attempt' | 'startedAt' | 'finishedAt' | 'end'> {
  try {
    const { attempt, startedAt, finishedAt, end } = JSON.parse(details) as BuildDetails
    return { attempt, startedAt, finishedAt, end }
  } catch {
    return NO_DETAILS
  }
}

const withDetails = (row: Selectable<Schema['fact']>, details: BuildDetails): BuildEvent => ({
  seq: row.seq,
  at: row.at,
  cardNumber: row.episode,
  projectId: row.project_id as ProjectId,
  buildId: row.build_id as BuildId,
  buildOrder: row.build_order,
  branch: row.branch,
  commitId: row.commit_id,
  revisionKey: row.lineage_key,
  rawStatus: row.word,
  status: toStatus(row.word),
  origin: row.origin as Origin,
  details: withCredibleTimes(details, row.at),
  isAcknowledged: row.acknowledged === 1,
  isOutcome: row.verdict === 1,
})

/** What the column `verdict` has for `post`: databases keep the word that they began with. */
export const STORED_POST = 'tell'

/** The column `recovered` holds an index into this list. */
const CHANGES_STORED: readonly (Change | null)[] = [null, 'recovered', 'broken']

const CARD_DECISION_COLUMNS = {
  eventSeq: 'fact_seq',
  verdict: [
    'verdict',
    {
      store: (verdict) => (verdict === 'post' ? STORED_POST : verdict),
      read: (word: string) => (word === STORED_POST ? 'post' : word) as StoredDecision['verdict'],
    },
  ],
  reason: 'reason',
  change: [
    'recovered',
    { store: (change) => CHANGES_STORED.indexOf(change), read: (index: number) => CHANGES_STORED[index] ?? null },
  ],
  loud: ['loud', FLAG],
  decidedAt: 'decided_at',
} satisfies Columns<'decision', CardDecision>

export const CARD_DECISION = mapping<'decision', CardDecision>(CARD_DECISION_COLUMNS)

export const DECISION = mapping<'decision', StoredDecision>({
  ...CARD_DECISION_COLUMNS,
  channel: 'channel',
  subject: 'subject',
  rulesFrom: 'rules_from',
  ruleResults: [
    'looked',
    {
      store: (results) => JSON.stringify(results),
      // Versions before 0.2 stored words in place of rules.
      read: (text: string) => (JSON.parse(text) as RuleResult[]).filter((one) => typeof one === 'object'),
    },
  ],
  noticeDay: 'notice_day',
})

/** The most build events of one build that are read, the newest ones. More than any build has; limits a flood. */
const BUILD_EVENTS_MAX = 200

const VERDICTS = (['success', 'failed', 'infrastructure_failure'] as const).map((status) => sql.lit(status))

/** At most this many outcomes of newer builds are read: one that overtook this build is near it. */
const OVERTAKERS_MAX = 100

export function readBuildEvents(db: Kysely<Schema>, runQuery: RunQuery, locks: boolean) {
  const buildEvents = () => db.selectFrom('fact').selectAll()
  const verdicts = (key: string) =>
    db.selectFrom('fact').where('branch_key', '=', key).where('verdict', '=', sql.lit(1))

  return {
    async eventsOfBuild(projectId, buildId) {
      const key = buildKey(projectId, buildId)
      const read = () =>
        runQuery('eventsOfBuild', { key }, (value) =>
          buildEvents().where('build_key', '=', value('key')).orderBy('seq', 'desc').limit(sql.lit(BUILD_EVENTS_MAX)),
        )
      // Two concurrent first build events of one build must not each be taken for the first.
      const [, rows] = locks ? await together([lock(db, runQuery, 'build', key), read()]) : [null, await read()]
      return rows.toReversed().map(toStored)
    },

    async eventsOfBuilds(buildKeys) {
      const found: BuildEvent[] = []
      for (const key of buildKeys) {
        const rows = await runQuery('eventsOfKey', { key }, (value) =>
          buildEvents().where('build_key', '=', value('key')),
        )
        found.push(...rows.map(toStored))
      }
      return found.sort((a, b) => a.seq - b.seq)
    },

    async eventsOfCard(revisionKey, cardNumber) {
      const rows = await runQuery('eventsOfCard', { revisionKey, cardNumber }, (value) =>
        buildEvents()
          .where('lineage_key', '=', value('revisionKey'))
          .where('episode', '=', value('cardNumber'))
          .orderBy('seq'),
      )
      return rows.map(toStored)
    },

    async newestCard(revisionKey) {
      const [row] = await runQuery('newestCard', { revisionKey }, (value) => {
        const placed = db
          .selectFrom('fact')
          .where('lineage_key', '=', value('revisionKey'))
          .where('episode', 'is not', null)
        const newest = placed.select(({ fn }) => fn.max('episode').as('newest'))
        return placed
          .select(({ fn }) => [fn.min('at').as('first_at'), fn.max('at').as('last_at')])
          .select(({ fn }) => [
            fn.countAll<number>().as('buildEvents'),
            fn.count<number>('build_key').distinct().as('builds'),
          ])
          .select(({ fn }) => fn.max('episode').as('episode'))
          .where('episode', '=', newest)
      })
      if (!row || row.episode === null) return null
      const [firstAt, lastAt] = [Number(row.first_at), Number(row.last_at)]
      const counts = { buildEvents: Number(row.buildEvents), builds: Number(row.builds) }
      return { cardNumber: row.episode, firstAt, lastAt, ...counts }
    },

    async verdictsBefore(branch, buildOrder, limit) {
      const rows = await runQuery(`verdictsBefore ${limit}`, { branchKey: branch, buildOrder }, (value) =>
        verdicts(value('branchKey'))
          .selectAll()
          .where('build_order', '<=', value('buildOrder'))
          .orderBy('build_order', 'desc')
          .orderBy('seq', 'desc')
          .limit(sql.lit(limit)),
      )
      return rows.map(toVerdict)
    },

    async judgements(revisionKey, cardNumber) {
      const rows = await runQuery('judgements', { revisionKey, cardNumber }, (value) =>
        db
          .selectFrom('fact')
          .select(['seq', 'judgement'])
          .where('lineage_key', '=', value('revisionKey'))
          .where('episode', '=', value('cardNumber'))
          .where('judgement', 'is not', null),
      )
      return new Map(rows.map(({ seq, judgement }) => [seq, JSON.parse(judgement!) as Judgement]))
    },

    async isOvertaken(branch, buildOrder, seq) {
      const [older] = await runQuery('isOvertaken', { branchKey: branch, buildOrder, seq }, (value) =>
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

    async revisionsAfter(branch, buildOrder, limit) {
      const rows = await runQuery(`revisionsAfter ${limit}`, { branchKey: branch, buildOrder }, (value) =>
        db
          .selectFrom('build')
          .select(['lineage_key', 'status', 'run'])
          .where('branch_key', '=', value('branchKey'))
          .where('build_order', '>', value('buildOrder'))
          // If a build has several attempts, its status says nothing of the earlier ones.
          .where(({ or, eb }) => or([eb('status', 'in', VERDICTS), eb('run', '>', sql.lit(1))]))
          .orderBy('build_order')
          .limit(sql.lit(limit)),
      )
      return rows.map((row) => ({ revisionKey: row.lineage_key, hasRed: row.run > 1 || isRed(row.status as Status) }))
    },
  } satisfies Partial<Reads>
}

/** Build events in one update. Always as many, so that it is compiled once: a shorter list repeats its first. */
const ACKNOWLEDGED_TOGETHER = 32
const SEQS = Array.from({ length: ACKNOWLEDGED_TOGETHER }, (_, n) => `seq${n}`)

export function writeBuildEvents(db: Kysely<Schema>, runQuery: RunQuery, onNews: OnNews) {
  /** A build keeps the order of its first build event. The caller has read the build's events, and so locked them. */
  async function uuidOrder({ projectId, buildId, details }: ReceivedEvent, at: number): Promise<string> {
    const key = buildKey(projectId, buildId)
    const [known] = await runQuery('orderOfBuild', { key }, (value) =>
      db.selectFrom('fact').select('build_order').where('build_key', '=', value('key')).limit(sql.lit(1)),
    )
    if (known) return known.build_order
    const [newest] = await runQuery('newestOrder', { projectId }, (value) =>
      db
        .selectFrom('build')
        .select('build_order')
        .where('project_id', '=', value('projectId'))
        .orderBy('build_order', 'desc')
        .limit(sql.lit(1)),
    )
    return orderOf(buildId, beganBy(details, at), newest?.build_order)
  }

  return {
    async insertBuildEvent(event, { at, origin, priority, isOfPastAttempt = false, revisionKey }) {
      const buildEvent = {
        at,
        origin,
        project_id: event.projectId,
        build_id: event.buildId,
        build_key: buildKey(event.projectId, event.buildId),
        build_order: isIdDigits(event.buildId) ? orderOf(event.buildId, at) : await uuidOrder(event, at),
        lineage_key: revisionKey,
        branch_key: branchKey(event.projectId, event.branch),
        branch: event.branch,
        commit_id: event.commitId,
        word: event.rawStatus,
        verdict: isVerdict(toStatus(event.rawStatus)) && !isOfPastAttempt && hasStreak(event.branch ?? '') ? 1 : 0,
        details: JSON.stringify(event.details),
        priority,
        acknowledged: origin === 'delivery' ? 0 : 1,
      }
      onNews('ingest')
      const [inserted] = await runQuery('insertBuildEvent', buildEvent, (value) =>
        db.insertInto('fact').values(columns(buildEvent, value)).returning('seq'),
      )
      return inserted!.seq
    },

    async countRepeat(eventSeq) {
      await db
        .updateTable('fact')
        .set(({ eb }) => ({ repeats: eb('repeats', '+', 1) }))
        .where('seq', '=', eventSeq)
        .execute()
    },

    async acknowledge(eventSeqs) {
      for (let i = 0; i < eventSeqs.length; i += ACKNOWLEDGED_TOGETHER) {
        const some = eventSeqs.slice(i, i + ACKNOWLEDGED_TOGETHER)
        const values = Object.fromEntries(SEQS.map((name, n) => [name, some[n] ?? some[0]!]))
        await runQuery('acknowledge', values, (value) =>
          db
            .updateTable('fact')
            .set({ acknowledged: sql.lit(1) })
            .where('seq', 'in', SEQS.map(value)),
        )
      }
    },

    async insertDelivery({ receivedAt, answer, eventSeq, body, key = null }) {
      const row = { received_at: receivedAt, answer, fact_seq: eventSeq, body, key }
      await runQuery('insertDelivery', row, (value) =>
        db
          .insertInto('delivery')
          .values(columns(row, value))
          .onConflict((conflict) => conflict.doNothing()),
      )
    },

    async deliveredBefore(key) {
      const [found] = await runQuery('deliveredBefore', { key }, (value) =>
        db
          .selectFrom('delivery')
          .leftJoin('fact', 'fact.seq', 'delivery.fact_seq')
          .select(['delivery.fact_seq as seq', 'fact.lineage_key as revisionKey'])
          .where('delivery.key', '=', value('key')),
      )
      return found ? { seq: Number(found.seq), revisionKey: found.revisionKey ?? '' } : null
    },

    async placeEvent(eventSeq, cardNumber) {
      await runQuery('placeEvent', { eventSeq, cardNumber }, (value) =>
        db
          .updateTable('fact')
          .set({ episode: value('cardNumber') })
          .where('seq', '=', value('eventSeq')),
      )
    },

    async saveJudgement(eventSeq, judgement) {
      await runQuery('saveJudgement', { eventSeq, judgement: JSON.stringify(judgement) }, (value) =>
        db
          .updateTable('fact')
          .set({ judgement: value('judgement') })
          .where('seq', '=', value('eventSeq')),
      )
    },

    async forgetJudgements(branch, buildOrder, { ofBuild }) {
      await runQuery(`forgetJudgements ${ofBuild}`, { branchKey: branch, buildOrder }, (value) =>
        db
          .updateTable('fact')
          .set({ judgement: null })
          .where('branch_key', '=', value('branchKey'))
          .where('verdict', '=', sql.lit(1))
          .where('build_order', ofBuild ? '>=' : '>', value('buildOrder')),
      )
    },

    async saveDecision(decision) {
      const row = DECISION.toRow(decision)
      await runQuery('saveDecision', row, (value) =>
        db
          .insertInto('decision')
          .values(columns(row, value))
          .onConflict((conflict) => conflict.columns(['fact_seq', 'channel']).doUpdateSet(columns(row, value))),
      )
    },
  } satisfies Partial<Tx>
}
