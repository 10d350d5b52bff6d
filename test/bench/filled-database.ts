import { DatabaseSync } from 'node:sqlite'
import { branchKey } from '../../src/domain/builds/revision.ts'
import type { ProjectId } from '../../src/domain/ids.ts'
import { openSqlite } from '../../src/store/sqlite.ts'

/** Builds on one branch: the same in a small and a large database, so that only the size differs. */
const BUILDS_PER_BRANCH = 10

/** The first project's id; each project has one branch. */
export const PROJECT = 1_000
export const branchName = (project: number): string => `release-${project}`

const DAY_MS = 24 * 60 * 60_000

/**
 * Fills a new database with builds as they are long after they were told: two build events, two decisions,
 * a delivery, a card, a message and its place each.
 */
export async function fillDatabase(path: string, builds: number): Promise<void> {
  const store = openSqlite(path)
  await store.migrate()
  // A connection that was never used is not closed by `close`, and then the file stays in WAL mode.
  await store.read.lastDoneAt('')
  await store.close()
  const db = new DatabaseSync(path)
  // A file that can be thrown away is filled without care, and its indexes are made at the end.
  db.exec('pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -400000')
  const indexes = takeIndexes(db)
  db.exec('begin')
  nameBuilds(db, builds)
  for (const statement of ROWS) db.exec(statement)
  for (const { sql } of indexes) db.exec(sql)
  db.exec('drop table made; drop table branch; commit; pragma optimize')
  db.exec('pragma journal_mode = wal')
  db.close()
}

interface Index {
  name: string
  sql: string
}

function takeIndexes(db: DatabaseSync): Index[] {
  const indexes = db
    .prepare("select name, sql from sqlite_master where type = 'index' and sql is not null")
    .all() as unknown as Index[]
  for (const { name } of indexes) db.exec(`drop index ${name}`)
  return indexes
}

function nameBuilds(db: DatabaseSync, builds: number): void {
  db.exec('create table branch (project integer primary key, branch_key text)')
  const insert = db.prepare('insert into branch values (?, ?)')
  for (let project = PROJECT; project < PROJECT + builds / BUILDS_PER_BRANCH; project++)
    insert.run(project, branchKey(String(project) as ProjectId, branchName(project)))
  // Revision keys rise with the builds, which fills the tables fast, and are spread over all there could be, as digests are.
  db.exec(`
    create table made as
    with recursive series(n) as (select 1 union all select n + 1 from series where n < ${builds})
    select n, ${PROJECT} + (n - 1) / ${BUILDS_PER_BRANCH} as project, branch_key,
      printf('release-%d', project) as branch, printf('%08x%024x', n * 4294967295 / ${builds}, n) as lineage_key,
      printf('%040x', n * 7919) as commit_id, iif(n % 8 = 0, 'error', 'success') as ending,
      ${Date.now() - DAY_MS * 30} + n as at
    from series join branch on project = ${PROJECT} + (n - 1) / ${BUILDS_PER_BRANCH}`)
}

const DETAILS = `printf('{"projectName":"acme/p%d","projectFullName":"acme/p%d","buildUrl":"https://ci.example.com/projects/%d/builds/%d","commitUrl":"https://code.example.com/acme/p%d/commit/%s","shortCommitId":"%s","message":"Change %d: take the long way round","committer":"ada","projectUuid":null,"buildUuid":null,"organizationUuid":null,"startedAt":null,"finishedAt":null}', project, project, project, n, project, commit_id, substr(commit_id, 1, 7), n)`

const BODY = `printf('{"build":{"build_url":"https://ci.example.com/projects/%d/builds/%d","project_id":%d,"build_id":%d,"status":"%s","project_name":"acme/p%d","commit_id":"%s","message":"Change %d: take the long way round","committer":"ada","branch":"%s"}}', project, n, project, n, ending, project, commit_id, n, branch)`

const BUILD_EVENTS = `(select *, n * 2 - 1 as seq, 'initiated' as word, 0 as verdict from made
  union all select *, n * 2, ending, 1 from made order by seq)`

const ROWS = [
  `insert into delivery (received_at, answer, fact_seq, body) select at, 'recorded', n * 2, ${BODY} from made`,
  `insert into fact (seq, at, origin, project_id, build_id, build_key, build_order, lineage_key, episode, branch_key,
    branch, commit_id, word, verdict, details, repeats, priority) select seq, at, 'delivery', cast(project as text), cast(n as text), project || '/' || n,
    printf('%020d', n), lineage_key, 1, branch_key, branch, commit_id, word, verdict, ${DETAILS}, 0, iif(word = 'error', 0, 2) from ${BUILD_EVENTS}`,
  `insert into decision select seq, 'C0BENCH001', lineage_key || '/1', 'tell', 'event-selected', 'channel', '["selects"]',
    0, word = 'error', null, at from ${BUILD_EVENTS}`,
  `insert into card (subject, channel, quiet, mention, attempts, plain)
    select lineage_key || '/1', 'C0BENCH001', 0, 1, 0, 0 from made order by n`,
  `insert into message (key, subject, channel, slot, generation, state, claimed_at, claimed_by, ts, digest, written_at)
    select printf('%08x-0000-4000-8000-%012x', n * 2654435761 % 4294967296, n), lineage_key || '/1', 'C0BENCH001', 'card', 1, 'posted', at,
    'process', printf('%d.%06d', at / 1000, n % 1000000), substr(lineage_key, 9), at from made order by 1`,
  `insert into build (build_key, project_id, build_id, build_order, branch_key, branch, lineage_key, episode, run, status,
    word, at, is_running) select project || '/' || n, cast(project as text), cast(n as text), printf('%020d', n), branch_key,
    branch, lineage_key, 1, 1, iif(ending = 'error', 'failed', ending), ending, at, 0 from made order by 1`,
  `insert into heard (project_id, name, full_name, at) select cast(project as text), 'acme/p' || project, 'acme/p' || project,
    max(at) from made group by project`,
]
