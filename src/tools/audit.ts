import { existsSync } from 'node:fs'
import { loadEnvFile } from 'node:process'
import { readDatabase } from '../config.ts'
import { isProjectRequest, type ProjectRequest } from '../domain/project-request.ts'
import type { Request } from '../domain/request.ts'
import { openSqlite } from '../store/sqlite.ts'
import type { Store } from '../store/store.ts'

/** Rows read at once: the export takes no more memory, however long the audit is. */
const PAGE_ROWS = 500

export interface AuditSettings {
  databaseUrl: string | undefined
  /** only what was asked from then on (ms) */
  sinceMs: number
  print: (line: string) => void
}

/** Thrown for what an operator can mend; the message is one line without a secret. */
export class AuditFailure extends Error {}

/**
 * Prints every write to CI that somebody asked for, one JSON object a line, oldest first: who, where, what, and how it
 * ended. It only reads; the bot may run meanwhile. Times are ISO 8601, UTC.
 */
export async function exportAudit({ databaseUrl, sinceMs, print }: AuditSettings): Promise<void> {
  const store = await open(databaseUrl)
  try {
    let place = { askedAt: sinceMs - 1, id: '\u{10ffff}' }
    for (;;) {
      const page = await store.read.requestsAfter(place, PAGE_ROWS)
      for (const request of page) print(JSON.stringify(toEntry(request)))
      const last = page.at(-1)
      if (!last || page.length < PAGE_ROWS) return
      place = last
    }
  } finally {
    await store.close()
  }
}

async function open(url: string | undefined): Promise<Store> {
  if (existsSync('.env')) loadEnvFile('.env')
  const faults: string[] = []
  const database = readDatabase(url ?? process.env['DATABASE_URL'], faults)
  if (faults[0] !== undefined) throw new AuditFailure(faults[0])
  if (database.kind === 'postgres') {
    const { openPostgres } = await import('../store/postgres.ts')
    return openPostgres(database.url, () => {})
  }
  // Opening would make an empty file, and call that an audit.
  if (!existsSync(database.path)) throw new AuditFailure(`there is no database at ${database.path}: set DATABASE_URL`)
  return openSqlite(database.path)
}

const toEntry = (request: Request | ProjectRequest) =>
  isProjectRequest(request) ? ofProject(request) : ofBuild(request)

const ofBuild = (request: Request) => ({
  at: iso(request.askedAt),
  action: request.action,
  result: request.state,
  code: request.code,
  by: request.askedBy,
  team: request.askedTeam,
  channel: request.channel,
  via: request.via,
  project: request.target.project,
  branch: request.target.branch,
  projectId: request.projectId,
  buildId: request.buildId,
  run: request.run,
  projectUuid: request.target.projectUuid,
  buildUuid: request.target.buildUuid,
  newBuildId: request.newBuildId,
  newBuildUuid: request.newBuildUuid,
  reason: request.reason,
  answeredAt: iso(request.answeredAt),
  endedAt: iso(request.endedAt),
  id: request.id,
})

/** The same keys, so that one table holds both; `fields` names what was to change. */
const ofProject = (request: ProjectRequest) => ({
  at: iso(request.askedAt),
  action: request.action,
  result: request.state,
  code: request.code,
  by: request.askedBy,
  team: request.askedTeam,
  channel: request.channel,
  via: request.via,
  project: request.project,
  branch: null,
  projectId: null,
  buildId: null,
  run: null,
  projectUuid: request.projectUuid,
  buildUuid: null,
  newBuildId: null,
  newBuildUuid: null,
  fields: request.what,
  reason: request.reason,
  answeredAt: iso(request.answeredAt),
  endedAt: iso(request.endedAt),
  id: request.id,
})

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())
