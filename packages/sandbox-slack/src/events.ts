import type { Grant } from './grant.ts'
import type { Json } from './json.ts'
import { sendEvent } from './people/tell-event.ts'
import type { Sender } from './sender.ts'
import type { Workspace } from './workspace.ts'

/** The scope that each event asks for; `null` asks for none. What is not listed is never told. */
export const SCOPE_BY_EVENT = {
  app_home_opened: null,
  channel_archive: 'channels:read',
  channel_unarchive: 'channels:read',
  channel_rename: 'channels:read',
  channel_left: 'channels:read',
  group_archive: 'groups:read',
  group_unarchive: 'groups:read',
  group_rename: 'groups:read',
  group_left: 'groups:read',
  member_joined_channel: null,
  user_change: 'users:read',
} as const

export type EventType = keyof typeof SCOPE_BY_EVENT
export type WorkspaceEvent = Json & { type: EventType }

export interface Events {
  /**
   * Tells the bot of what happened, if the app has subscribed to it and has the scope. Nothing waits for the answer, as
   * nobody in Slack does; it stands among `sender.acknowledgements`. `scope` is asked for beside the event's own.
   */
  tell(event: WorkspaceEvent, scope?: string): void
}

export interface EventParts {
  workspace: Workspace
  sender: Sender
  grant: Grant
  /** what the app has subscribed to; without it everything */
  subscribed?: readonly string[] | undefined
}

export function createEvents({ workspace, sender, grant, subscribed }: EventParts): Events {
  const isSubscribed = (type: string): boolean => subscribed === undefined || subscribed.includes(type)
  const isGranted = (scope: string | null | undefined): boolean => !scope || grant.scopes.has(scope)
  return {
    tell: (event, scope) => {
      const isDue = isSubscribed(event.type) && isGranted(SCOPE_BY_EVENT[event.type]) && isGranted(scope)
      // A sandbox without a bot has nobody to tell.
      if (isDue && sender.isConnected()) void sendEvent({ workspace, sender }, event)
    },
  }
}
