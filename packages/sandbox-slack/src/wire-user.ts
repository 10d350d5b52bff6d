import { homeIdOf } from './workspace.ts'
import type { User, Workspace } from './workspace.ts'

/** A person as `users.info` shows them. A deactivated one has no time zone and no rights. The address needs a scope. */
export const toWireUser = (workspace: Workspace, user: User, scopes: ReadonlySet<string> = new Set()) => ({
  id: user.id,
  ...(user.grid?.isFlat ? {} : { team_id: homeIdOf(workspace, user) }),
  name: user.name,
  deleted: user.isDeactivated ?? false,
  profile: profileOf(workspace, user, scopes),
  ...(user.isDeactivated ? {} : { real_name: user.realName, color: COLOR, ...TIME_ZONE, ...rightsOf(user) }),
  ...(user.team ? { is_stranger: !isMet(workspace, user) } : {}),
  is_bot: user.role === 'bot' && (user.bot?.kind ?? 'app') === 'app',
  is_app_user: false,
  ...(user.bot?.kind === 'workflow' ? { is_workflow_bot: true } : {}),
  ...(user.bot?.kind === 'connector' ? { is_connector_bot: true } : {}),
  is_email_confirmed: user.email !== undefined,
  who_can_share_contact_card: 'EVERYONE',
  updated: 1_700_000_000,
  ...gridFieldsOf(workspace, user),
})

const COLOR = '9f69e7'
const TIME_ZONE = { tz: 'Etc/UTC', tz_label: 'Coordinated Universal Time', tz_offset: 0 }

function profileOf(workspace: Workspace, { realName, role, email, bot, ...user }: User, scopes: ReadonlySet<string>) {
  const displayName = role === 'bot' ? '' : realName
  const [firstName = '', ...lastNames] = realName.split(' ')
  return {
    real_name: realName,
    real_name_normalized: realName,
    display_name: displayName,
    display_name_normalized: displayName,
    first_name: firstName,
    last_name: lastNames.join(' '),
    ...EMPTY_PROFILE,
    team: homeIdOf(workspace, { realName, role, ...user }),
    ...(email !== undefined && scopes.has('users:read.email') ? { email } : {}),
    ...(bot ? { bot_id: bot.botId, api_app_id: bot.appId, always_active: true } : {}),
  }
}

const EMPTY_PROFILE = {
  title: '',
  phone: '',
  skype: '',
  avatar_hash: '',
  status_text: '',
  status_text_canonical: '',
  status_emoji: '',
  status_emoji_display_info: [],
  status_expiration: 0,
}

// Whatever an outsider is in their own workspace: here they have no rights and are not a guest.
const rightsOf = ({ role, team }: User) => ({
  is_admin: !team && (role === 'admin' || role === 'owner'),
  is_owner: !team && role === 'owner',
  is_primary_owner: false,
  is_restricted: !team && role === 'guest',
  is_ultra_restricted: false,
})

/** Whether a person shares a channel with the bot. Slack calls an outsider a stranger only if they share none. */
const isMet = ({ channels, bot }: Workspace, { id }: User): boolean =>
  [...channels.values()].some(({ members }) => members.has(id) && members.has(bot.userId))

/** What an organization adds for each of its people. */
function gridFieldsOf({ enterprise, team }: Workspace, user: User) {
  if (!enterprise || user.team || user.role === 'bot') return {}
  const teams = [...(user.grid?.teams ?? [team.id])]
  const named = { enterprise_id: enterprise.id, enterprise_name: enterprise.name }
  const rights = { is_admin: false, is_owner: false, is_primary_owner: false }
  return {
    enterprise_user: { id: user.id, ...named, ...rights, teams },
    ...(user.grid?.isFlat ? { ...named, teams } : {}),
  }
}
