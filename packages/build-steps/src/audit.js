// @ts-check
import { EXIT, Failure } from './program.js'

export const auditHelp = () => `buildline audit: every write to CI that somebody asked for, and every change that
people made to a red branch, as JSON lines, oldest first.

  buildline audit [--since 2026-01-31[T12:00:00Z]]

It runs where the bot is installed (its folder or its image) and reads the bot's database:
  DATABASE_URL   as for the bot; a file .env is read too

Each line: at, action, result (accepted, confirmed, refused, unclear, unconfirmed, calling), code, by, team, channel,
via, project, branch, projectId, buildId, run, projectUuid, buildUuid, newBuildId, newBuildUuid, reason, answeredAt,
endedAt, id. Of a project that was created, edited or given a new key also fields: the names of what was to change. Of a
red branch also to and until: who looks after it, and until when.
`

/** @type {import('./program.js').Work} */
export async function audit(args, env, print) {
  const sinceMs = readSince(args)
  // This imports the bot's own code here and not at the top, because build machines do not have it.
  const { AuditFailure, exportAudit } = await import('../../../src/cli/audit.ts').catch(() => {
    throw new Failure(EXIT.other, 'run the audit where the bot is installed: in its folder or its image, with its Node')
  })
  try {
    await exportAudit({ databaseUrl: env['DATABASE_URL'], sinceMs, print: (line) => print.text(`${line}\n`) })
  } catch (error) {
    if (error instanceof AuditFailure) throw new Failure(EXIT.usage, error.message)
    throw new Failure(
      EXIT.unavailable,
      'the database could not be read: is DATABASE_URL right, and has the bot run yet?',
    )
  }
}

/** @param {readonly string[]} args */
function readSince(args) {
  if (args.length === 0) return 0
  const [flag, value] = args[0]?.startsWith('--since=') ? ['--since', args[0].slice('--since='.length)] : args
  const at = flag === '--since' && value !== undefined ? Date.parse(value) : Number.NaN
  if (Number.isNaN(at)) throw new Failure(EXIT.usage, 'only --since <date> is understood. See buildline audit --help')
  return at
}
