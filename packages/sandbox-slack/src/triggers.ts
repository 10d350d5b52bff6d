import type { Workspace } from './workspace.ts'

/** How long a trigger is valid. It opens one view. */
export const TRIGGER_TTL_MS = 3_000
/** How many triggers are kept. Used and expired ones are kept to give the right error. */
export const TRIGGERS_KEPT_MAX = 10_000

export type Exchange =
  | { kind: 'exchanged'; userId: string; channelId: string | undefined }
  | { kind: 'refused'; error: 'invalid_trigger_id' | 'expired_trigger_id' | 'exchanged_trigger_id' }

export interface Triggers {
  /** Issues a trigger for an action of this person; `channelId` is their channel, if they were in one. */
  issue(userId: string, channelId?: string): string
  exchange(id: string): Exchange
}

export function createTriggers(workspace: Workspace): Triggers {
  const { clock } = workspace
  const issued = new Map<string, { userId: string; channelId: string | undefined; atMs: number; isSpent: boolean }>()
  return {
    issue: (userId, channelId) => {
      const id = `${clock.now()}.${workspace.nextNumber()}.sandbox`
      issued.set(id, { userId, channelId, atMs: clock.now(), isSpent: false })
      const [oldest] = issued.keys()
      if (issued.size > TRIGGERS_KEPT_MAX && oldest !== undefined) issued.delete(oldest)
      return id
    },
    exchange: (id) => {
      const trigger = issued.get(id)
      if (!trigger) return { kind: 'refused', error: 'invalid_trigger_id' }
      if (trigger.isSpent) return { kind: 'refused', error: 'exchanged_trigger_id' }
      if (clock.now() - trigger.atMs > TRIGGER_TTL_MS) return { kind: 'refused', error: 'expired_trigger_id' }
      trigger.isSpent = true
      return { kind: 'exchanged', userId: trigger.userId, channelId: trigger.channelId }
    },
  }
}
