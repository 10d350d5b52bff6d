import { z } from 'zod'
import type { ControlAnswer } from './control.ts'
import type { Json } from './json.ts'
import { toPageChannel } from './page-state.ts'
import { openDirectBetween } from './workspace.ts'
import type { Workspace } from './workspace.ts'

/** Opens the direct channel of two people. No app gets an event. */
export const directDeed = z.strictObject({ kind: z.literal('open-direct'), user: z.string(), with: z.string() })

export type DirectDeed = z.output<typeof directDeed>

export interface Opened {
  kind: 'opened'
  what: 'open-direct'
  /** the channel in the page's form, because the page may get this answer before the event about the channel */
  channel: Json
}

/** Refuses accounts that nobody reads: apps, which have their own direct channel, deactivated ones, and oneself. */
export function findNoReader({ users }: Workspace, { user, with: other }: DirectDeed): ControlAnswer | null {
  const reader = users.get(other)
  if (!reader) return refused(404, `the sandbox has no user ${other}`)
  const isReader = reader.role !== 'bot' && !reader.isDeactivated && other !== user
  return isReader ? null : refused(400, `${reader.realName} reads no direct messages`)
}

const refused = (status: number, error: string): ControlAnswer => ({ status, body: { ok: false, error } })

export const openDirect = (workspace: Workspace, { user, with: other }: DirectDeed): Opened => ({
  kind: 'opened',
  what: 'open-direct',
  channel: toPageChannel(workspace, openDirectBetween(workspace, [user, other])),
})
