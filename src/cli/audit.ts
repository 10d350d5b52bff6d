import { existsSync } from 'node:fs'
import { readDatabase } from '../config/config.ts'
import { withEnvFile } from '../config/environment.ts'
import { isProjectRequest, type ProjectRequest, type Request } from '../domain/cards/request.ts'
import { forTerminal } from '../lib/escape.ts'
import { openStore } from '../store/open.ts'
import type { AuditedChange } from '../store/streaks.ts'
import type { Store } from '../store/store.ts'

/** Rows read at once, so that a long audit needs no more memory. */
const PAGE_ROWS = 500

interface AuditSettings {
  databaseUrl: string | undefined
  /** exports only what was requested at this time (ms since the epoch) or later */
  sinceMs: number
  print: (line: string) => void
}

/** A problem that the operator can fix. The message is one line and contains no secret. */
export class AuditFailure extends Error {}

/**
 * Prints every write to CI that a person requested, and every change that people made to a red branch: one JSON object
 * per line, oldest first. It only reads, so the bot may run meanwhile. Times are ISO 8601, UTC.
 */
export async function exportAudit({ databaseUrl, sinceMs, print }: AuditSettings): Promise<void> {
  const store = await open(databaseUrl)
  try {
    const requests = pages(
      ({ at, id }) => store.read.requestsAfter({ requestedAt: at, id }, PAGE_ROWS),
      toEntry,
      sinceMs,
    )
    const changes = pages((place) => store.read.streakChangesAfter(place, PAGE_ROWS), toChangeEntry, sinceMs)
    let [request, change] = [await requests.next(), await changes.next()]
    while (!request.done || !change.done) {
      const isRequest = !request.done && (change.done || request.value.at <= change.value.at)
      print(forTerminal(JSON.stringify(isRequest ? request.value : change.value)))
      if (isRequest) request = await requests.next()
      else change = await changes.next()
    }
  } finally {
    await store.close()
  }
}

/** Reads all rows, one page in memory at a time. */
async function* pages<Row extends { id: string }>(
  read: (place: { at: number; id: string }) => Promise<readonly Row[]>,
  toEntryOf: (row: Row) => Entry,
  sinceMs: number,
): AsyncGenerator<Entry, undefined> {
  let place = { at: sinceMs - 1, id: '\u{10ffff}' }
  for (;;) {
    const page = await read(place)
    for (const row of page) {
      const entry = toEntryOf(row)
      place = { at: Date.parse(entry.at), id: row.id }
      yield entry
    }
    if (page.length < PAGE_ROWS) return
  }
}

async function open(url: string | undefined): Promise<Store> {
  const env = withEnvFile(process.env)
  const faults: string[] = []
  const database = readDatabase(url ?? env['DATABASE_URL'], faults, env['POSTGRES_PASSWORD'])
  if (faults[0] !== undefined) throw new AuditFailure(faults[0])
  // SQLite would create an empty file, and the export would be empty.
  if (database.kind === 'sqlite' && !existsSync(database.path))
    throw new AuditFailure(`there is no database at ${database.path}: set DATABASE_URL`)
  return openStore(database)
}

/** All entries have these fields, so that they fit one table. A project request has also `fields`: what it changes. */
const toEntry = (request: Request | ProjectRequest) => ({
  at: new Date(request.requestedAt).toISOString(),
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

/** A change of a red branch. It has also `to`, who took it over, and `until`, until when. */
function toChangeEntry({ id, at, kind, by, to, until, projectId, branch }: AuditedChange) {
  const nothing = { buildId: null, run: null, projectUuid: null, buildUuid: null, newBuildId: null, newBuildUuid: null }
  const asked = { code: null, by, team: null, channel: null, via: null, project: null, branch, projectId, ...nothing }
  const ended = { to, until: iso(until), reason: null, answeredAt: null, endedAt: null, id }
  return { at: new Date(at).toISOString(), action: `red-branch-${kind}`, result: 'confirmed', ...asked, ...ended }
}

type Entry = ReturnType<typeof toEntry> | ReturnType<typeof toChangeEntry>

function aboutOf(request: Request | ProjectRequest) {
  const { projectUuid } = isProjectRequest(request) ? request : request.target
  const nothing = { branch: null, projectId: null, buildId: null, run: null, projectUuid, buildUuid: null }
  if (isProjectRequest(request)) {
    const { project, newBuildId, what: fields } = request
    return { project, ...nothing, newBuildId, newBuildUuid: null, fields }
  }
  const { target, projectId, buildId, attempt, newBuildId, newBuildUuid } = request
  const { project, branch, buildUuid } = target
  return { project, branch, projectId, buildId, run: attempt, projectUuid, buildUuid, newBuildId, newBuildUuid }
}

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())
