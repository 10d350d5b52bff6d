import { PEOPLE } from '../workspace.ts'
import type { UserGroup, Workspace } from '../workspace.ts'
import { toWireUser } from '../wire.ts'
import { flagArg, refuse, requiredArg } from './call.ts'
import type { Call, Method } from './call.ts'
import { pageOf } from './paging.ts'

/** The methods of `users.*` and `usergroups.*`. */
export const peopleMethods = {
  'users.info': { scopes: ['users:read'], run: userInfo },
  'users.lookupByEmail': { scopes: ['users:read.email'], run: userByEmail },
  'users.list': { scopes: ['users:read'], run: userList },
  'usergroups.list': { scopes: ['usergroups:read'], run: groupList },
  'usergroups.users.list': { scopes: ['usergroups:read'], run: groupUsers },
} satisfies Record<string, Method>

const USERS_LIMIT_DEFAULT = 1_000

function userInfo({ args, workspace, scopes }: Call) {
  const user = workspace.users.get(requiredArg(args, 'user', 'user_not_found')) ?? refuse('user_not_found')
  if (user.isHidden) refuse('user_not_visible')
  const locale = flagArg(args, 'include_locale') ? { locale: 'en-US' } : {}
  return { user: { ...toWireUser(workspace, user, scopes), ...locale } }
}

/** As in Slack, deactivated accounts are not found. */
function userByEmail({ args, workspace, scopes }: Call) {
  const email = requiredArg(args, 'email', 'users_not_found').toLowerCase()
  const user = [...workspace.users.values()].find((one) => one.email === email && !one.isDeactivated && !one.isHidden)
  return { user: toWireUser(workspace, user ?? refuse('users_not_found'), scopes) }
}

function userList({ args, workspace, scopes }: Call) {
  const limits = { limitDefault: USERS_LIMIT_DEFAULT, limitMax: USERS_LIMIT_DEFAULT }
  const page = pageOf(
    args,
    [...workspace.users.values()].filter(({ isHidden }) => !isHidden),
    { ...limits, keyOf: ({ id }) => id },
  )
  const { response_metadata: cursor } = page.fields
  const members = page.items.map((user) => toWireUser(workspace, user, scopes))
  return { members, cache_ts: Math.floor(workspace.clock.now() / 1_000), response_metadata: cursor }
}

function groupList({ args, workspace }: Call) {
  const withUsers = flagArg(args, 'include_users') === true
  return { usergroups: workspace.userGroups.map((group) => toWireGroup(workspace, group, withUsers)) }
}

const toWireGroup = ({ team }: Workspace, { id, handle, name, users }: UserGroup, withUsers: boolean) => ({
  id,
  team_id: team.id,
  is_usergroup: true,
  is_subteam: true,
  is_external: false,
  handle,
  name,
  description: '',
  date_create: 1_700_000_000,
  date_update: 1_700_000_000,
  date_delete: 0,
  created_by: PEOPLE.grace,
  updated_by: PEOPLE.grace,
  auto_provision: false,
  enterprise_subteam_id: '',
  prefs: { channels: [], groups: [] },
  channel_count: 0,
  user_count: users.length,
  ...(withUsers ? { users } : {}),
})

function groupUsers({ args, workspace }: Call) {
  const id = requiredArg(args, 'usergroup')
  const group = workspace.userGroups.find((one) => one.id === id) ?? refuse('no_such_subteam')
  return { users: group.users }
}
