import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import { buildId, channelId, messageTs, projectId, T0 } from '../../support/build-events.ts'
import { queryOnce } from '../../support/postgres.ts'
import type { Place, Places } from '../../support/stores.ts'
import type { Tx } from '../../../src/store/store.ts'
import { buildEvent } from '../given.ts'
import { BUILD_EVENTS, ONE, seed } from '../seed.ts'

const CHANNEL = channelId(ONE.channel)
const RUN = { projectId: projectId(ONE.projectId), buildId: buildId('700'), attempt: 1 }
const CARD = { subject: ONE.subject, channel: CHANNEL }
const LATER = T0 + BUILD_EVENTS
const LONG_AGO = T0 - 1
const SILENT = { notAfter: T0 + 5_000, notBefore: T0 + 1_000 }
const UUID_BUILD = { build: '3f2a1b4c-5d6e-4f70-8192-a3b4c5d6e7f8', project: ONE.projectId }
const EVERY = { except: [] }
const NOTICES = { beforeDay: ONE.day, closed: [CHANNEL] }

/** Each frequent query, with the index that it must use (under its name in either database). */
const HOT: readonly [string, (tx: Tx) => Promise<unknown>, ...string[]][] = [
  ['factsOfBuild', (tx) => tx.eventsOfBuild(ONE.projectId, ONE.buildId), 'fact_build'],
  ['factsOfBuilds', (tx) => tx.eventsOfBuilds([`${ONE.projectId}/${ONE.buildId}`]), 'fact_build'],
  ['factsOfEpisode', (tx) => tx.eventsOfCard(ONE.revisionKey, 1), 'fact_lineage'],
  ['newestEpisode', (tx) => tx.newestCard(ONE.revisionKey), 'fact_lineage'],
  ['verdictsBefore', (tx) => tx.verdictsBefore(ONE.branchKey, ONE.buildOrder, 25), 'fact_verdict'],
  ['isOvertaken', (tx) => tx.isOvertaken(ONE.branchKey, ONE.buildOrder, BUILD_EVENTS), 'fact_verdict'],
  ['revisionsAfter', (tx) => tx.revisionsAfter(ONE.branchKey, ONE.buildOrder, 25), 'build_branch'],
  ['countRepeat', (tx) => tx.countRepeat(BUILD_EVENTS / 2), 'fact_pkey', 'fact USING INTEGER PRIMARY KEY'],
  ['placeFact', (tx) => tx.placeEvent(BUILD_EVENTS / 2, 1), 'fact_pkey', 'fact USING INTEGER PRIMARY KEY'],
  ['dueIntake of facts', (tx) => tx.dueIngest(LATER, 8), 'fact_unplaced'],
  ['dueIntake of wakes', (tx) => tx.dueIngest(LATER, 8), 'intake_due'],
  ['intakeOf', (tx) => tx.ingestOf(ONE.revisionKey), 'intake_pkey', 'autoindex_intake_1'],
  ['settleRevision', (tx) => tx.settleRevision(ONE.revisionKey, 0), 'intake_pkey', 'autoindex_intake_1'],
  ['decisionsOf', (tx) => tx.decisionsOf(CARD), 'decision_subject'],
  ['decisionsOfFact', (tx) => tx.decisionsOfEvent(BUILD_EVENTS / 2), 'decision_pkey', 'autoindex_decision_1'],
  ['noticeFacts', (tx) => tx.noticeEvents(ONE.day, CHANNEL, 20), 'decision_notice'],
  ['card', (tx) => tx.card(CARD), 'card_pkey', 'autoindex_card_1'],
  ['cardsOf', (tx) => tx.cardsOf(ONE.subject), 'card_pkey', 'autoindex_card_1'],
  [
    'setRetryState',
    (tx) => tx.setRetryState(CARD, { tries: 0, plain: false, problem: null }),
    'card_pkey',
    'autoindex_card_1',
  ],
  ['messagesOf', (tx) => tx.messagesOf(CARD), 'message_subject_channel_slot', 'autoindex_message_2'],
  ['updateMessage', (tx) => tx.updateMessage('key-9', { state: 'gone' }), 'message_pkey', 'autoindex_message_1'],
  ['channelsToPost', (tx) => tx.channelsToPost(), 'card_post'],
  ['dueCards to post', (tx) => tx.dueCards('post', LATER, 32, CHANNEL, []), 'card_post'],
  ['dueCards to edit', (tx) => tx.dueCards('edit', LATER, 32, null, [CHANNEL]), 'card_edit'],
  ['dueCards to look for', (tx) => tx.dueCards('look', LATER, 32, null, []), 'card_look'],
  ['oldestNews', (tx) => tx.oldestNews(), 'fact_unplaced'],
  ['recentCalls', (tx) => tx.recentCalls(LATER), 'pace_at'],
  ['forgetCalls', (tx) => tx.forgetCalls(LONG_AGO), 'pace_at'],
  [
    'project by uuid',
    (tx) => tx.project({ uuid: 'uuid-7', legacyId: '7', names: [] }),
    'project_pkey',
    'autoindex_project_1',
  ],
  ['project by legacy id', (tx) => tx.project({ uuid: null, legacyId: '7', names: [] }), 'project_legacy'],
  ['project by name', (tx) => tx.project({ uuid: null, legacyId: 'none', names: ['acme/7'] }), 'project_name'],
  ['build', (tx) => tx.build(ONE.projectId, '541'), 'build_pkey', 'autoindex_build_1'],
  ['buildByUuid', (tx) => tx.buildByUuid(toUuid('uuid-541')), 'build_uuid'],
  ['newestBuild of a project', (tx) => tx.newestBuild(ONE.projectId), 'build_project'],
  ['newestBuild of a branch', (tx) => tx.newestBuild(ONE.projectId, 'main'), 'build_branch'],
  ['lastBuilds', (tx) => tx.lastBuilds(ONE.projectId, 'main', 5), 'build_branch'],
  ['redBuilds', (tx) => tx.redBuilds({ only: [ONE.projectId] }, 10), 'build_red_in', 'build_red_now'],
  ['redBuilds of all', (tx) => tx.redBuilds(EVERY, 10), 'build_red_now'],
  ['newestBuilds', (tx) => tx.newestBuilds(EVERY, 9), 'build_newest'],
  ['newestBuilds of some', (tx) => tx.newestBuilds({ only: ['7', '8'] }, 9, 'not-red'), 'build_newest'],
  ['countNewest', (tx) => tx.countNewest(EVERY, 9, 'not-red'), 'build_newest'],
  ['whether a streak is open', (tx) => tx.countNewest(EVERY, 9, 'not-red'), 'breakage_open'],
  ['countRed', (tx) => tx.countRed(EVERY, 1_000), 'build_red_left'],
  ['whether a red build is the last outcome', (tx) => tx.countRed(EVERY, 1_000), 'build_branch'],
  ['listedAs by name', (tx) => tx.listedAs(['acme/7'], 9), 'project_key'],
  ['listedAs by id', (tx) => tx.listedAs(['7'], 9), 'project_legacy'],
  ['deliveredAs by full name', (tx) => tx.deliveredAs(['acme/7'], 9), 'heard_full'],
  ['deliveredAs by name', (tx) => tx.deliveredAs(['acme/7'], 9), 'heard_name'],
  ['deliveredAs by uuid', (tx) => tx.deliveredAs(['uuid-7'], 9), 'heard_uuid'],
  ['namesakes', (tx) => tx.namesakes(['acme/7']), 'heard_full'],
  ['searchListed by beginning', (tx) => tx.searchListed({ text: 'acme/7', at: 'begin' }, 9), 'project_key'],
  ['searchListed by the whole', (tx) => tx.searchListed({ text: 'acme/7', at: 'whole' }, 9), 'project_key'],
  ['searchListed by the last part', (tx) => tx.searchListed({ text: '7', at: 'last' }, 9), 'project_last'],
  ['searchDelivered by the last part', (tx) => tx.searchDelivered({ text: '7', at: 'last' }, 9), 'heard_last'],
  ['namesAround of listed projects', (tx) => tx.namesAround('acme/7', 9), 'project_key'],
  ['namesAround of delivered projects', (tx) => tx.namesAround('acme/7', 9), 'heard_full'],
  ['searchListed by a part', (tx) => tx.searchListed({ text: '/7', at: 'anywhere' }, 9), 'project_key'],
  ['searchDelivered by a part', (tx) => tx.searchDelivered({ text: '/7', at: 'anywhere' }, 9), 'heard_full'],
  ['deliveredProjects', (tx) => tx.deliveredProjects(EVERY, 'desc', 9), 'heard_full'],
  ['endsAfter of all', (tx) => tx.endsAfter(null, { at: T0 + BUILD_EVENTS / 2, seq: 9 }, 100), 'fact_ended_at'],
  ['projectsAmong', (tx) => tx.projectsAmong(['7'], { except: ['8'] }), 'heard_pkey', 'autoindex_heard_1'],
  ['builtSince', (tx) => tx.builtSince([ONE.projectId], T0 + BUILD_EVENTS / 2), 'fact_ended'],
  ['the mark of the newest build', (tx) => tx.forgetBuild(ONE.projectId, '541'), 'build_project'],
  ['the mark of a red build', (tx) => tx.forgetBuild(ONE.projectId, '641'), 'build_branch'],
  ['openStreaks of all', (tx) => tx.openStreaks(EVERY, 9), 'breakage_open_at'],
  ['builds by their number', (tx) => tx.buildsByNumber('541', 9), 'build_number'],
  ['builds by their id', (tx) => tx.buildsByNumber('541', 9), 'build_id'],
  ['runningBuilds', (tx) => tx.runningBuilds(null, 20), 'build_running'],
  ['branchesOf', (tx) => tx.branchesOf(ONE.projectId, 20), 'build_project'],
  ['subjectOf', (tx) => tx.subjectOf(CHANNEL, messageTs(ONE.ts)), 'message_ts'],
  ['requestsOf', (tx) => tx.requestsOf('revision-700'), 'request_lineage'],
  ['requestOf', (tx) => tx.requestOf('ask-700'), 'request_ask_key_key', 'autoindex_request_2'],
  ['openRequest', (tx) => tx.openRequest(RUN, 'stop'), 'request_open', 'request_build'],
  ['restartsOf', (tx) => tx.restartsOf(ONE.projectId, '700'), 'request_build'],
  ['requestsToCheck', (tx) => tx.requestsToCheck(LATER, 8), 'request_look'],
  ['requestsAfter', (tx) => tx.requestsAfter({ requestedAt: T0 + 4_000, id: 'request-4000' }, 8), 'request_asked'],
  ['updateRequest', (tx) => tx.updateRequest('request-7', { state: 'refused' }), 'request_pkey', 'autoindex_request_1'],
  ['newestRequests', (tx) => tx.newestRequests(8), 'request_asked'],
  ['openProjectRequest', (tx) => tx.openProjectRequest(toUuid('uuid-700')), 'request_project'],
  ['projectRequestsToCheck', (tx) => tx.projectRequestsToCheck(LATER, 8), 'request_look_project'],
  ['redBuildsOf', (tx) => tx.redBuildsOf(['handle-7', 'handle-9'], 8), 'build_red'],
  ['whether red builds are the newest', (tx) => tx.redBuildsOf(['handle-7', 'handle-9'], 8), 'build_branch'],
  ['waitingBuilds', (tx) => tx.waitingBuilds(null, 20), 'build_waiting'],
  ['personOf', (tx) => tx.personOf('handle-7'), 'person_pkey', 'autoindex_person_1'],
  ['isClaimed', (tx) => tx.isClaimed('handle-7'), 'person_pkey', 'autoindex_person_1'],
  ['claimOf', (tx) => tx.claimOf('handle-7'), 'person_pkey', 'autoindex_person_1'],
  ['handlesOf', (tx) => tx.handlesOf('U7'), 'person_user'],
  ['claimantsToCheck', (tx) => tx.claimantsToCheck(T0 + 50, 8), 'person_checked'],
  ['factsAfter', (tx) => tx.eventsAfter(BUILD_EVENTS / 2, 100), 'fact_pkey', 'fact USING INTEGER PRIMARY KEY'],
  ['judgements', (tx) => tx.judgements('revision-7', 1), 'fact_lineage'],
  ['forgetJudgements', (tx) => tx.forgetJudgements(ONE.branchKey, ONE.buildOrder, { ofBuild: true }), 'fact_verdict'],
  ['silentBuilds that run', (tx) => tx.silentBuilds(SILENT, 20), 'build_running'],
  ['silentBuilds that wait', (tx) => tx.silentBuilds(SILENT, 20), 'build_waiting'],
  ['setCiCheckedAt', (tx) => tx.setCiCheckedAt([RUN], T0), 'build_pkey', 'autoindex_build_1'],
  ['removeEpisode', (tx) => tx.removeCardEvents('revision-3', 1), 'fact_lineage'],
  ['the decisions that go with it', (tx) => tx.removeCardEvents('revision-5', 1), 'decision_subject'],
  ['the requests that go with it', (tx) => tx.removeCardEvents('revision-7', 1), 'request_lineage'],
  ['the reports that go with it', (tx) => tx.removeCardEvents('revision-9', 1), 'report_build'],
  ['reportsOf', (tx) => tx.reportsOf(`${ONE.projectId}/${ONE.buildId}`), 'report_build'],
  ['reportedBuilds', (tx) => tx.reportedBuilds([projectId('42')], T0, 9), 'report_build'],
  ['moveReports', (tx) => tx.moveReports('github:1/9', 'github:1:2/9'), 'report_build'],
  ['removeReport', (tx) => tx.removeReport(7), 'report_pkey', 'report USING INTEGER PRIMARY KEY'],
  ['removeEarlyReports', (tx) => tx.removeEarlyReports(T0 + 50, 20), 'report_early'],
  ['boundEarlyReports', (tx) => tx.boundEarlyReports(20, null), 'report_early'],
  ['boundEarlyReports of a project', (tx) => tx.boundEarlyReports(20, projectId('41')), 'report_early'],
  ['removeNotices', (tx) => tx.removeNotices(NOTICES, 20), 'card_pkey', 'autoindex_card_1'],
  ['removeProjectRequests', (tx) => tx.removeProjectRequests(T0 + 50, 20), 'request_asked'],
  ['the place of a UUID', (tx) => tx.insertBuildEvent(...buildEvent(UUID_BUILD)), 'build_project'],
  ['whether a UUID has its place', (tx) => tx.insertBuildEvent(...buildEvent(UUID_BUILD)), 'fact_build'],
  ['endsAfter', (tx) => tx.endsAfter(RUN.projectId, { at: T0 + BUILD_EVENTS / 2, seq: 9 }, 100), 'fact_ended'],
  ['eventsAndRestartsOf', (tx) => tx.eventsAndRestartsOf([`${RUN.projectId}/${RUN.buildId}`]), 'fact_build'],
  ['the restarts of stories', (tx) => tx.eventsAndRestartsOf([`${RUN.projectId}/${RUN.buildId}`]), 'request_build'],
  ['branchStatesBefore', (tx) => tx.branchStatesBefore([ONE.branchKey], T0 + BUILD_EVENTS / 2), 'fact_verdict'],
  ['digest', (tx) => tx.digest(channelId('C0BUILDS7')), 'digest_pkey', 'autoindex_digest_1'],
  ['digestsDue', (tx) => tx.digestsDue(LATER), 'digest_next'],
  ['digestsAfter', (tx) => tx.digestsAfter(T0 + 100 * BUILD_EVENTS), 'digest_next'],
  ['openStreak', (tx) => tx.openStreak('branch-7'), 'breakage_open'],
  ['streak', (tx) => tx.streak('7'), 'breakage_pkey', 'autoindex_breakage_1'],
  ['streakAt', (tx) => tx.streakAt('branch-7', '7'), 'breakage_branch'],
  ['openStreaks', (tx) => tx.openStreaks({ only: ['7', '8'] }, 9), 'breakage_open_project', 'breakage_open_at'],
  ['streaksOf', (tx) => tx.streaksOf('U7'), 'breakage_owner'],
  ['streakOwners', (tx) => tx.streakOwners(T0, 9), 'breakage_owner'],
  ['streakChangesOf', (tx) => tx.streakChangesOf('revision-7/1'), 'breakage_change_subject'],
  ['streakChangeBy', (tx) => tx.streakChangeBy('ask-7'), 'breakage_change_ask_key_key', 'autoindex_breakage_change_2'],
  ['streakChangesAfter', (tx) => tx.streakChangesAfter({ at: T0 + 9_000, id: '' }, 9), 'breakage_change_at'],
  ['streakChanges', (tx) => tx.streakChanges(['7', '8']), 'breakage_change_number', 'breakage_change_of'],
  [
    'streakCards',
    (tx) =>
      tx.streakCards({ branchKey: ONE.branchKey, beganOrder: ONE.buildOrder, newestOrder: ONE.buildOrder }, CHANNEL),
    'fact_verdict',
  ],
  [
    'removeStreakChange',
    (tx) => tx.removeStreakChange('change-7'),
    'breakage_change_pkey',
    'autoindex_breakage_change_1',
  ],
  ['touchCards', (tx) => tx.touchCards(ONE.subject, T0, 4), 'card_pkey', 'autoindex_card_1'],
  ['the streaks that go with a card', (tx) => tx.removeCardEvents('revision-9', 1), 'breakage_card'],
  ['subscriptionsOf', (tx) => tx.subscriptionsOf(channelId('C0BUILDS7')), 'subscription_slot'],
]

/** How a query plan shows that a whole table is read, or rows are sorted that an index could give in order. */
const WHOLE_TABLE =
  /Seq Scan|SCAN (?:fact|card|message|decision|intake|pace|project|heard|person|person_setting|build|request|report|subscription|digest|breakage|breakage_change)(?! USING)/
const SORTS_ALL = /USE TEMP B-TREE FOR ORDER BY|Sort {2}/
const MUST_COME_SORTED = [
  'endsAfter',
  'endsAfter of all',
  'branchStatesBefore',
  'digestsDue',
  'verdictsBefore',
  'revisionsAfter',
  'dueIntake of facts',
  'dueIntake of wakes',
  'oldestNews',
  'newestBuild of a project',
  'newestBuild of a branch',
  'lastBuilds',
  'the place of a UUID',
  'requestsToCheck',
  'projectRequestsToCheck',
  'requestsAfter',
  'newestRequests',
  'waitingBuilds',
  'claimantsToCheck',
  'dueCards to post',
  'dueCards to edit',
  'dueCards to look for',
  'factsAfter',
  'silentBuilds that run',
  'silentBuilds that wait',
  'removeEarlyReports',
  'boundEarlyReports',
  'removeNotices',
  'removeProjectRequests',
  'streakAt',
  'streakChangesOf',
  'streakChangesAfter',
]

export function planClaims(places: () => Places): void {
  let place: Place
  beforeAll(async () => {
    place = await places().open()
    await seed(place)
  })
  afterAll(() => place[Symbol.asyncDispose]())

  test.each(HOT)(`among ${BUILD_EVENTS} build events %s uses an index`, async (name, ask, ...indexes) => {
    const plan = await plansOf(place, ask)
    expect(
      indexes.filter((index) => plan.includes(index)),
      plan,
    ).not.toEqual([])
    expect(plan).not.toMatch(WHOLE_TABLE)
    if (MUST_COME_SORTED.includes(name)) expect(plan).not.toMatch(SORTS_ALL)
  })
}

interface Statement {
  text: string
  /** null: the server plans the statement once, for any values */
  values: readonly unknown[] | null
}

/** The database's plans for the statements that the product sends. */
async function plansOf(place: Place, ask: (tx: Tx) => Promise<unknown>): Promise<string> {
  const statements = place.kind === 'sqlite' ? await preparedBy(place, ask) : await sentBy(place, ask)
  const own = statements.filter(({ text }) => /^(?:select|with|update|delete|\s+with)\s/.test(text))
  const plans: string[] = []
  for (const { text, values } of own) plans.push(await explain(place, text, values))
  return plans.join('\n')
}

async function explain({ kind, url, sql }: Place, text: string, values: Statement['values']): Promise<string> {
  const how = values === null ? 'explain (generic_plan)' : 'explain'
  const rows =
    kind === 'sqlite' ? await sql(`explain query plan ${text}`) : await queryOnce(url, `${how} ${text}`, values ?? [])
  return rows.map((row) => Object.values(row as object).at(-1) as string).join('\n')
}

async function preparedBy(place: Place, ask: (tx: Tx) => Promise<unknown>): Promise<Statement[]> {
  using prepare = vi.spyOn(DatabaseSync.prototype, 'prepare')
  await place.another().write(ask)
  return prepare.mock.calls.map(([text]) => ({ text, values: [] }))
}

async function sentBy(place: Place, ask: (tx: Tx) => Promise<unknown>): Promise<Statement[]> {
  const store = place.another()
  using query = vi.spyOn(Client.prototype, 'query')
  await store.write(ask)
  return query.mock.calls.map(([text, values]) => toStatement(text as never, values))
}

const toStatement = (asked: string | { name: string; text: string }, values: unknown): Statement =>
  typeof asked === 'string'
    ? { text: asked, values: Array.isArray(values) ? values : [] }
    : { text: asked.text, values: null }
