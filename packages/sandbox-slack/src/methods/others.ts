import { findMessage } from '../messages.ts'
import { refuse, requiredArg } from './call.ts'
import type { Call, Method } from './call.ts'
import { readableChannelOf } from './channels.ts'

/** `auth.*`, `api.*`, `apps.*` and `reactions.*`. */
export const otherMethods = {
  'auth.test': { scopes: [], token: 'any', run: authTest },
  'api.test': { scopes: [], run: apiTest },
  'apps.connections.open': { scopes: [], token: 'app', run: ({ sockets }) => ({ url: sockets.issueUrl() }) },
  'reactions.add': { scopes: ['reactions:write'], run: addReaction },
} satisfies Record<string, Method>

function authTest({ workspace: { team, bot, enterprise, namesApp }, isByApp }: Call) {
  if (isByApp) return { app_name: bot.name, app_id: bot.appId }
  return {
    url: `https://${team.domain}.slack.com/`,
    team: team.name,
    user: bot.name.toLowerCase(),
    team_id: team.id,
    user_id: bot.userId,
    bot_id: bot.botId,
    is_enterprise_install: false,
    ...(enterprise ? { enterprise_id: enterprise.id } : {}),
    ...(namesApp ? { app_id: bot.appId } : {}),
  }
}

function apiTest({ args }: Call) {
  const { token: _token, error, ...rest } = args
  return typeof error === 'string' ? refuse(error, { args: { ...rest, error } }) : { args: rest }
}

const EMOJI_NAME = /^[a-z0-9_+'-]+$/

function addReaction(call: Call) {
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
