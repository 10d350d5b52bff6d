import type { Place } from '../support/stores.ts'
import { T0 } from '../support/build-events.ts'

/** The build events of a year in a busy workspace. */
export const BUILD_EVENTS = 50_000

/** The build events that are not ingested, as after a burst. */
const UNPLACED = BUILD_EVENTS / 5
/** Revisions that were woken or postponed. */
const WOKEN = 500

const BUILDS = BUILD_EVENTS / 5
const REVISIONS = BUILDS / 2
const CHANNELS = 4
const BRANCHES = 50
const PROJECTS = 100
const REQUESTS = 5_000
/** Projects that are known, most of them without builds. */
const KNOWN = 50_000

/** The revision, build, branch and card of the queries: in the middle of all the others. */
export const ONE = {
  revisionKey: `revision-${REVISIONS / 2}`,
  projectId: '41',
  buildId: String(BUILDS / 2),
  buildOrder: '0000000000000'.concat(String(1_000_000 + BUILDS / 2)),
  branchKey: 'branch-7',
  subject: `revision-${REVISIONS / 2}/1`,
  channel: 'C0BUILDS1',
  day: '2026-03-02',
  ts: '1700000000.000800',
}

/** Fills an empty database, with SQL that both databases understand. */
export async function seed({ kind, sql }: Place): Promise<void> {
  const counted = (name: string, upTo: number) =>
    `(with recursive ${name}(i) as (select 1 union all select i + 1 from ${name} where i < ${upTo}) select i from ${name}) as ${name}`
  await sql(`insert into fact (at, origin, project_id, build_id, build_key, build_order, lineage_key, episode, branch_key,
      branch, commit_id, word, verdict, details, priority)
    select ${T0} + i, 'delivery', '41', '' || (1 + i / 5), '41/' || (1 + i / 5),
      substr('0000000000000000000' || (1000000 + i / 5), length('' || (1000000 + i / 5))), 'revision-' || (1 + i / 10),
      case when i > ${BUILD_EVENTS - UNPLACED} then null else 1 end, 'branch-' || (i / 10 % ${BRANCHES}), 'main', null,
      case when i % 5 = 4 then 'error' else 'initiated' end, case when i % 5 = 4 then 1 else 0 end, '{}', i % 3
    from ${counted('facts', BUILD_EVENTS)}`)
  await sql(`insert into intake (lineage_key, due_at, priority, stamp)
    select 'revision-' || i, ${T0} + i, i % 3, 1 from ${counted('revisions', WOKEN)}`)
  await sql(`insert into decision (fact_seq, channel, subject, verdict, reason, rules_from, looked, recovered, loud,
      notice_day, decided_at)
    select i, 'C0BUILDS' || (i % ${CHANNELS}), 'revision-' || (1 + i / 10) || '/1', 'tell', 'every-event', 'nobody', '[]', 0, 0,
      case when i % 100 = 0 then '2026-03-0' || (1 + i / 100 % 9) else null end, ${T0} + i
    from ${counted('decisions', BUILD_EVENTS)}`)
  await sql(`insert into card (subject, channel, quiet, mention, attempts, plain, post_at, post_priority, edit_at,
      edit_priority, look_at, look_priority)
    select 'revision-' || (1 + i / ${CHANNELS}) || '/1', 'C0BUILDS' || (i % ${CHANNELS}), 0, 0, 0, 0,
      case when i % 4 = 1 then ${T0} + i end, case when i % 4 = 1 then i % 5 end,
      case when i % 20 = 2 then ${T0} + i end, case when i % 20 = 2 then i % 5 end,
      case when i % 200 = 3 then ${T0} + i end, case when i % 200 = 3 then i % 5 end
    from ${counted('cards', REVISIONS * CHANNELS - CHANNELS)}`)
  await sql(`insert into message (key, subject, channel, slot, generation, state, claimed_at, claimed_by, ts)
    select 'key-' || i, 'revision-' || (1 + i / 8) || '/1', 'C0BUILDS' || (i % ${CHANNELS}), 'slot-' || (i / 4 % 2), 1,
      'posted', ${T0} + i, 'process', '1700000000.' || substr('00000' || i, length('' || i))
    from ${counted('messages', REVISIONS * 8 - 8)}`)
  await sql(
    `insert into pace (lane, channel, at) select 'post', 'C0BUILDS1', ${T0} + i from ${counted('calls', 5_000)}`,
  )
  await sql(`insert into project (uuid, name, name_key, legacy_id, rules, read_at)
    select 'uuid-' || i, 'acme/' || i, 'acme/' || i, '' || i, null, ${T0} from ${counted('projects', KNOWN)}`)
  await sql(`insert into build (build_key, project_id, build_id, build_order, branch_key, branch, lineage_key, episode, run,
      status, word, at, is_running, build_uuid, committer)
    select (i % ${PROJECTS}) || '/' || i, '' || (i % ${PROJECTS}), '' || i,
      substr('0000000000000000000' || (1000000 + i), length('' || (1000000 + i))), 'branch-' || (i % ${BRANCHES}),
      'main-' || (i / ${PROJECTS} % 10), 'revision-' || (i / 2), 1, 1, case when i % 500 = 41 then 'started' when i % 500 = 42 then 'waiting' when i % 3 = 0 then 'failed' else 'success' end,
      'word', ${T0} + i, case when i % 500 = 41 then 1 else 0 end,
      'uuid-' || i, 'handle-' || (i % 500)
    from ${counted('builds', BUILDS)}`)
  await sql(
    `insert into heard (project_id, name, name_key, full_key, project_uuid, at)
      select '' || i, 'acme/' || i, 'acme/' || i, 'acme/' || i, 'uuid-' || i, ${T0} from ${counted('heards', KNOWN)}`,
  )
  await sql(`update build set newest = 1 where ${BUILDS - PROJECTS} < cast(build_id as integer)`)
  await sql(`update build set red = 1 where status = 'failed' and ${BUILDS - PROJECTS} < cast(build_id as integer)`)
  await sql(`insert into breakage (id, branch_key, project_id, branch, began_at, began_order, builds, newest_order,
      lineage_key, episode, ended_at, owner, owner_until)
    select '' || i, 'branch-' || (i / 10), '' || (i % ${PROJECTS}), 'main', ${T0} + i, '' || i, 1, '' || i,
      'revision-' || i, 1, case when i % 10 = 0 then null else ${T0} + i end,
      case when i % 7 = 0 then 'U' || (i / 7) end, ${T0} + i from ${counted('breakages', 5_000)}`)
  await sql(`insert into breakage_change (id, breakage_id, ask_key, kind, made_by, at, subject)
    select 'change-' || i, '' || i, 'ask-' || i, 'taken', 'U7', ${T0} + i, 'revision-' || i || '/1'
    from ${counted('changes', 10_000)}`)
  await sql(`insert into request (id, ask_key, action, state, build_key, run, lineage_key, subject, target, asked_by, via,
      asked_at, claimed_by, look_at)
    select 'request-' || i, 'ask-' || i, case when i % 2 = 0 then 'stop' else 'restart' end,
      case when i % 100 = 0 then 'accepted' else 'confirmed' end, '41/' || i, 1, 'revision-' || (i / 2),
      'revision-' || (i / 2) || '/1', '{}', 'U0LIN00001', 'button', ${T0} + i, 'process',
      case when i % 100 = 0 then ${T0} + i end
    from ${counted('requests', REQUESTS)}`)
  await sql(`insert into request (id, ask_key, action, state, target, project_uuid, asked_by, via, asked_at, claimed_by,
      look_at)
    select 'project-' || i, 'ask-project-' || i, 'edit-project',
      case when i % 100 = 0 then 'accepted' else 'confirmed' end, '{"project":"acme/web","what":[]}', 'uuid-' || i,
      'U0GRACE001', 'modal', ${T0} + i, 'process', case when i % 100 = 0 then ${T0} + i end
    from ${counted('edits', REQUESTS)}`)
  await sql(`insert into person (handle, user_id, claimed_at, checked_at)
    select 'handle-' || i, 'U' || i, ${T0}, ${T0} + i from ${counted('people', 5_000)}`)
  await sql(`insert into person_setting (user_id, mentions) select 'U' || i, i % 2 from ${counted('settings', 5_000)}`)
  await sql(`insert into subscription (channel, slot, follows, quiet, mention, created_by, created_at)
    select 'C0BUILDS' || (i % 500), 'slot-' || i, '{"what":"all"}', 0, 'nobody', 'U0ADA00001', ${T0} + i
    from ${counted('subscriptions', 5_000)}`)
  await sql(`insert into report (build_key, attempt_seq, received_at, body)
    select '41/' || i, case when i % 10 = 0 then 0 else i end, ${T0} + i, '{"failures":[]}' from ${counted('reports', BUILDS)}`)
  await sql(`insert into digest (channel, kind, minute, zone, set_by, set_at, next_at)
    select 'C0BUILDS' || i, 'daily', 540, 'UTC', 'U0ADA00001', ${T0}, ${T0} + 1000 * i from ${counted('digests', 5_000)}`)
  // PostgreSQL updates its statistics after a while; SQLite never does, and the product never asks it to.
  if (kind === 'postgres') await sql('analyze')
}
