import { existsSync } from 'node:fs'
import { loadEnvFile } from 'node:process'
import { readDatabase } from '../config.ts'
import { isProjectRequest, type ProjectRequest, type Request } from '../domain/request.ts'
import { forTerminal } from '../lib/escape.ts'
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
    let place = { requestedAt: sinceMs - 1, id: '\u{10ffff}' }
    for (;;) {
      const page = await store.read.requestsAfter(place, PAGE_ROWS)
      for (const request of page) print(forTerminal(JSON.stringify(toEntry(request))))
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

/** One shape for all, so that one table holds them; `fields` names what was to change of a project. */
const toEntry = (request: Request | ProjectRequest) => ({
  at: iso(request.requestedAt),
  action: request.action,
  result: request.state,
  code: request.code,
  by: request.requestedBy,
  team: request.requestedTeam,
  channel: request.channel,
  via: request.via,
  ...aboutOf(request),
  reason: request.reason,
  answeredAt: iso(request.answeredAt),
  endedAt: iso(request.endedAt),
  id: request.id,
})

function aboutOf(request: Request | ProjectRequest) {
  const { projectUuid } = isProjectRequest(request) ? request : request.target
  const nothing = { branch: null, projectId: null, buildId: null, run: null, projectUuid, buildUuid: null }
  if (isProjectRequest(request))
    return { project: request.project, ...nothing, newBuildId: null, newBuildUuid: null, fields: request.what }
  const { target, projectId, buildId, attempt, newBuildId, newBuildUuid } = request
  const { project, branch, buildUuid } = target
  return { project, branch, projectId, buildId, run: attempt, projectUuid, buildUuid, newBuildId, newBuildUuid }
}

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())
