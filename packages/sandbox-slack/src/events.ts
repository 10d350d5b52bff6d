import type { Grant } from './grant.ts'
import type { Json } from './json.ts'
import { sendEvent } from './people/tell-event.ts'
import type { Sender } from './sender.ts'
import type { Workspace } from './workspace.ts'

/** The scope that each event needs; null: none. Other events are never sent. */
export const SCOPE_BY_EVENT = {
  app_home_opened: null,
  app_uninstalled: null,
  channel_archive: 'channels:read',
  channel_unarchive: 'channels:read',
  channel_id_changed: 'groups:read',
  channel_rename: 'channels:read',
  channel_left: 'channels:read',
  group_archive: 'groups:read',
  group_unarchive: 'groups:read',
  group_rename: 'groups:read',
  group_left: 'groups:read',
  member_joined_channel: null,
  tokens_revoked: null,
  user_change: 'users:read',
} as const

export type EventType = keyof typeof SCOPE_BY_EVENT
export type WorkspaceEvent = Json & { type: EventType }

export interface Events {
  /**
   * Sends the bot an event if the app has subscribed to it and has its scope, and `scope` if given. Nothing waits for
   * the acknowledgement, as in Slack; it is added to `sender.acknowledgements`.
   */
  tell(event: WorkspaceEvent, scope?: string): void
}

export interface EventParts {
  workspace: Workspace
  sender: Sender
  grant: Grant
  /** the events that the app has subscribed to; by default all */
  subscribed?: readonly string[] | undefined
}

export function createEvents({ workspace, sender, grant, subscribed }: EventParts): Events {
  const isSubscribed = (type: string): boolean => subscribed === undefined || subscribed.includes(type)
  const isGranted = (scope: string | null | undefined): boolean => !scope || grant.scopes.has(scope)
  return {
    tell: (event, scope) => {
      const isDue = isSubscribed(event.type) && isGranted(SCOPE_BY_EVENT[event.type]) && isGranted(scope)
      // Without a bot, `sendEvent` would throw.
      if (isDue && sender.isConnected()) void sendEvent({ workspace, sender }, event)
    },
  }
}
