import { findMessage } from '../messages.ts'
import type { Json } from '../json.ts'
import { refuse, requiredArg } from './call.ts'
import type { Call, Method } from './call.ts'
import { readableChannelOf } from './channels.ts'

/** `auth.*`, `api.*`, `apps.*` and `reactions.*`. */
export const otherMethods: Record<string, Method> = {
  'auth.test': { scopes: [], run: authTest },
  'api.test': { scopes: [], run: apiTest },
  'apps.connections.open': { scopes: [], token: 'app', run: ({ sockets }) => ({ url: sockets.issueUrl() }) },
  'reactions.add': { scopes: ['reactions:write'], run: addReaction },
}

function authTest({ workspace: { team, bot } }: Call): Json {
  return {
    url: `https://${team.domain}.slack.com/`,
    team: team.name,
    user: bot.name.toLowerCase(),
    team_id: team.id,
    user_id: bot.userId,
    bot_id: bot.botId,
    is_enterprise_install: false,
  }
}

function apiTest({ args }: Call): Json {
  const { token: _token, error, ...rest } = args
  return typeof error === 'string' ? refuse(error, { args: { ...rest, error } }) : { args: rest }
}

const EMOJI_NAME = /^[a-z0-9_+'-]+$/

function addReaction(call: Call): Json {
  const { args, workspace } = call
  const name = requiredArg(args, 'name', 'invalid_name')
  if (!EMOJI_NAME.test(name)) refuse('invalid_name')
  const channel = readableChannelOf(call)
  const ts = requiredArg(args, 'timestamp', 'no_item_specified')
  const message = findMessage(channel, ts) ?? refuse('message_not_found')
  const reaction = message.reactions.find((one) => one.name === name) ?? { name, users: [] }
  if (reaction.users.includes(workspace.bot.userId)) refuse('already_reacted')
  if (reaction.users.length === 0) message.reactions.push(reaction)
  reaction.users.push(workspace.bot.userId)
  workspace.changes.emit({ kind: 'reacted', channel, message })
  return {}
}
