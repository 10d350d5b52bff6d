import { z } from 'zod'
import type { Acts } from './acts.ts'
import type { Counters } from './counters.ts'
import { faultSchema } from './faults.ts'
import type { Faults } from './faults.ts'
import type { Sockets } from './sockets/sockets.ts'

export interface ControlParts {
  faults: Faults
  acts: Acts
  counters: Counters
  sockets: Sockets
}

export interface ControlAnswer {
  status: number
  body: unknown
}

/** The sandbox's interface for scripts: `/sandbox/faults`, `/sandbox/acts`, `/sandbox/counters`. Null: another path. */
export function answerControl(
  parts: ControlParts,
  request: { verb: string; path: string; body: unknown },
): ControlAnswer | null {
  const { verb, path, body } = request
  if (path === '/sandbox/counters' && verb === 'GET') return { status: 200, body: parts.counters.snapshot() }
  if (path === '/sandbox/acts' && verb === 'POST') return act(parts, body)
  if (path === '/sandbox/faults' || path.startsWith('/sandbox/faults/')) return answerFaults(parts.faults, request)
  return null
}

function answerFaults(
  faults: Faults,
  { verb, path, body }: { verb: string; path: string; body: unknown },
): ControlAnswer | null {
  const id = path.slice('/sandbox/faults/'.length) || undefined
  if (verb === 'GET') return { status: 200, body: { faults: faults.list() } }
  if (verb === 'POST') return addFault(faults, body)
  if (verb !== 'DELETE') return null
  faults.clear(id)
  return { status: 200, body: { ok: true, faults: faults.list() } }
}

function addFault(faults: Faults, body: unknown): ControlAnswer {
  const fault = faultSchema.safeParse(body)
  if (!fault.success) return { status: 400, body: { ok: false, error: z.prettifyError(fault.error) } }
  return { status: 201, body: { ok: true, id: faults.add(fault.data) } }
}

const place = { channel: z.string() }
const spot = { ...place, ts: z.string() }

const CHANNEL_ACTS = ['archive', 'unarchive', 'kick-bot', 'invite-bot', 'make-private'] as const
/** Slack allows channel names of up to 80 characters. */
const CHANNEL_NAME = /^[a-z0-9_-]{1,80}$/
const SCOPE = /^[a-z_]+(?::[a-z_.]+)*$/

const actSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('say'),
    ...place,
    user: z.string(),
    text: z.string(),
    threadTs: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('delete-message'), ...spot }),
  z.strictObject({ kind: z.literal('close-edit-window'), ...spot }),
  z.strictObject({ kind: z.enum(CHANNEL_ACTS), ...place }),
  z.strictObject({ kind: z.literal('rename'), ...place, name: z.string().regex(CHANNEL_NAME) }),
  z.strictObject({ kind: z.enum(['deactivate', 'reactivate']), user: z.string() }),
  z.strictObject({ kind: z.enum(['revoke-scope', 'grant-scope']), scope: z.string().regex(SCOPE) }),
  z.strictObject({ kind: z.literal('revoke-token') }),
  z.strictObject({ kind: z.literal('restore-token') }),
  z.strictObject({ kind: z.literal('refresh-sockets') }),
  z.strictObject({ kind: z.literal('drop-sockets') }),
  z.strictObject({ kind: z.literal('history-lag'), ms: z.int().min(0) }),
])

type Act = z.output<typeof actSchema>

function act(parts: ControlParts, body: unknown): ControlAnswer {
  const parsed = actSchema.safeParse(body)
  if (!parsed.success) return { status: 400, body: { ok: false, error: z.prettifyError(parsed.error) } }
  try {
    const ts = perform(parts, parsed.data)
    return { status: 200, body: { ok: true, ...(ts === undefined ? {} : { ts }) } }
  } catch (error) {
    return { status: 404, body: { ok: false, error: error instanceof Error ? error.message : String(error) } }
  }
}

function perform({ acts, sockets }: ControlParts, wanted: Act): string | undefined {
  if (wanted.kind === 'say') return acts.say(wanted)
  if (wanted.kind === 'history-lag') acts.setHistoryLag(wanted.ms)
  else if (wanted.kind === 'refresh-sockets') sockets.refresh()
  else if (wanted.kind === 'drop-sockets') sockets.drop()
  else if (wanted.kind === 'revoke-token') acts.revokeToken()
  else if (wanted.kind === 'restore-token') acts.restoreToken()
  else if (wanted.kind === 'delete-message') acts.deleteMessage(wanted.channel, wanted.ts)
  else if (wanted.kind === 'close-edit-window') acts.closeEditWindow(wanted.channel, wanted.ts)
  else if (wanted.kind === 'rename') acts.rename(wanted.channel, wanted.name)
  else if ('user' in wanted) acts[wanted.kind](wanted.user)
  else if ('scope' in wanted) changeScope(acts, wanted)
  else changeChannel(acts, wanted.kind, wanted.channel)
  return undefined
}

function changeScope(acts: Acts, { kind, scope }: { kind: 'revoke-scope' | 'grant-scope'; scope: string }): void {
  if (kind === 'revoke-scope') acts.revokeScope(scope)
  else acts.grantScope(scope)
}

function changeChannel(acts: Acts, kind: (typeof CHANNEL_ACTS)[number], channel: string): void {
  const change = {
    archive: acts.archive,
    unarchive: acts.unarchive,
    'kick-bot': acts.kickBot,
    'invite-bot': acts.inviteBot,
    'make-private': acts.makePrivate,
  }
  change[kind](channel)
}
