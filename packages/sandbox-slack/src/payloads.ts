import { isJson } from './json.ts'
import type { Json } from './json.ts'
import type { Message } from './messages.ts'
import type { Channel, User, Workspace } from './workspace.ts'
import { toWireMessage } from './wire.ts'
import { homeIdOf, teamOf } from './workspace.ts'

/** The deprecated verification token, which Slack still sends. Apps should not rely on it. */
export const VERIFICATION_TOKEN = 'sandbox-verification-token'

const directMessageName = 'directmessage'
const privateChannelName = 'privategroup'

export interface Asked {
  triggerId: string
  responseUrl: string
}

/** Slack does not tell an app the name of a private channel in a request. */
function nameOf({ kind, name }: Channel): string {
  if (kind === 'im') return directMessageName
  return kind === 'private' ? privateChannelName : name
}

export const commandFields = (
  workspace: Workspace,
  { user, channel, command, text, triggerId, responseUrl }: Asked & CommandWords,
): Record<string, string> => ({
  token: VERIFICATION_TOKEN,
  team_id: teamOf(workspace, user).id,
  team_domain: teamOf(workspace, user).domain,
  channel_id: channel.id,
  channel_name: nameOf(channel),
  user_id: user.id,
  user_name: user.name,
  command,
  text,
  api_app_id: workspace.bot.appId,
  is_enterprise_install: 'false',
  ...enterpriseOf(workspace),
  response_url: responseUrl,
  trigger_id: triggerId,
})

const enterpriseOf = ({ enterprise }: Workspace) =>
  enterprise ? { enterprise_id: enterprise.id, enterprise_name: enterprise.name } : {}

export interface CommandWords {
  user: User
  channel: Channel
  command: string
  text: string
}

/** The fields that every interaction has. `team` is the person's own workspace, which may be another one. */
export function interactionFields(workspace: Workspace, type: string, user: User): Json {
  const { id, domain } = teamOf(workspace, user)
  return {
    type,
    user: { id: user.id, username: user.name, name: user.name, team_id: homeIdOf(workspace, user) },
    api_app_id: workspace.bot.appId,
    token: VERIFICATION_TOKEN,
    team: { id, domain, ...enterpriseOf(workspace) },
    enterprise: workspace.enterprise,
    is_enterprise_install: false,
  }
}

/** The fields about the message of an interaction. For blocks in an attachment, they name the attachment. */
export function messageFields(workspace: Workspace, place: MessagePlace): Json {
  const { channel, message, isEphemeral, attachmentId } = place
  return {
    container: {
      type: attachmentId === undefined ? 'message' : 'message_attachment',
      message_ts: message.ts,
      ...(attachmentId === undefined ? {} : { attachment_id: attachmentId, is_app_unfurl: false }),
      channel_id: channel.id,
      is_ephemeral: isEphemeral,
      ...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
    },
    channel: { id: channel.id, name: nameOf(channel) },
    // Slack does not send the content of an ephemeral message.
    ...(isEphemeral ? {} : { message: toWireMessage(workspace, channel, message, { withMetadata: true }) }),
    state: { values: {} },
  }
}

export interface MessagePlace {
  channel: Channel
  message: Message
  isEphemeral: boolean
  attachmentId?: number | undefined
}

export const eventEnvelope = (workspace: Workspace, event: Json, eventId?: string): Json => ({
  token: VERIFICATION_TOKEN,
  team_id: workspace.team.id,
  ...(workspace.enterprise ? { enterprise_id: workspace.enterprise.id } : {}),
  context_team_id: workspace.team.id,
  context_enterprise_id: workspace.enterprise?.id ?? null,
  api_app_id: workspace.bot.appId,
  event,
  type: 'event_callback',
  event_id: eventId ?? `Ev${String(workspace.nextNumber()).padStart(9, '0')}`,
  event_context: `4-${workspace.team.id}-${workspace.bot.appId}-${channelIdIn(event)}`,
  event_time: Math.floor(workspace.clock.now() / 1_000),
  authorizations: [
    {
      enterprise_id: workspace.enterprise?.id ?? null,
      team_id: workspace.team.id,
      user_id: workspace.bot.userId,
      is_bot: true,
      is_enterprise_install: false,
    },
  ],
  is_ext_shared_channel: workspace.channels.get(channelIdIn(event))?.sharedWith !== undefined,
})

/** A rename event has the channel as an object; other events have its id. */
const channelIdIn = ({ channel }: Json): string => String(isJson(channel) ? channel['id'] : channel)

export const verificationBody = (challenge: string): Json => ({
  token: VERIFICATION_TOKEN,
  challenge,
  type: 'url_verification',
})
