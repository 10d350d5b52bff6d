import type { Channel, Workspace } from './workspace.ts'

/** A channel as `users.conversations` returns it: without what concerns the app itself. */
export function toWireChannel(workspace: Workspace, channel: Channel) {
  const { id, isArchived } = channel
  const shared = { id, created: CREATED_AT_S, updated: CREATED_AT_S * 1_000, is_archived: isArchived }
  const common = { ...shared, is_org_shared: false, context_team_id: workspace.team.id, ...gridOf(workspace) }
  if (channel.kind === 'im') {
    const user = [...channel.members].find((member) => member !== workspace.bot.userId)
    return { ...common, is_im: true, ...(user === undefined ? {} : { user }), is_user_deleted: false, priority: 0 }
  }
  const isHidden = channel.kind !== 'public'
  return {
    ...common,
    name: channel.name,
    name_normalized: channel.name,
    previous_names: channel.previousNames,
    creator: workspace.bot.userId,
    is_channel: !isHidden,
    is_group: isHidden,
    is_im: false,
    is_mpim: channel.kind === 'mpim',
    is_private: isHidden,
    is_general: false,
    unlinked: 0,
    is_moved: isMovedOf(channel),
    ...sharingOf(workspace, channel),
    topic: NO_TEXT,
    purpose: NO_TEXT,
    ...restrictedToOf(channel),
  }
}

/** A channel as `conversations.list` returns it. */
export const toListedChannel = (workspace: Workspace, channel: Channel) => ({
  ...toWireChannel(workspace, channel),
  ...(channel.kind === 'im' ? {} : { is_member: isMember(workspace, channel), num_members: channel.members.size }),
})

/** A channel as `conversations.info` returns it, which alone says what may be posted. */
export const toWireChannelInfo = (workspace: Workspace, channel: Channel) => ({
  ...toWireChannel(workspace, channel),
  ...(channel.kind === 'im' ? {} : { is_member: isMember(workspace, channel) }),
  ...(isMember(workspace, channel) ? { last_read: '0000000000.000000' } : {}),
  ...(channel.restriction?.isReadOnly ? { is_read_only: true } : {}),
  ...(channel.restriction?.isThreadOnly ? { is_thread_only: true } : {}),
  ...(channel.restriction?.isNonThreadable ? { is_non_threadable: true } : {}),
})

const isMember = ({ bot }: Workspace, { members }: Channel): boolean => members.has(bot.userId)

/** Slack says it as a number. */
export const isMovedOf = ({ isMoved }: Channel): number => (isMoved ? 1 : 0)

export const CREATED_AT_S = 1_700_000_000
const NO_TEXT = { value: '', creator: '', last_set: 0 }

const gridOf = ({ enterprise }: Workspace) =>
  enterprise
    ? { enterprise_id: enterprise.id, is_global_shared: false, is_org_default: false, is_org_mandatory: false }
    : {}

function restrictedToOf({ restriction }: Channel) {
  const { postingRestrictedTo: posts, threadsRestrictedTo: threads } = restriction ?? {}
  if (!posts && !threads) return {}
  return {
    properties: {
      ...(posts ? { posting_restricted_to: { type: [], user: [], ...posts } } : {}),
      ...(threads ? { threads_restricted_to: { type: [], user: [], ...threads } } : {}),
    },
  }
}

function sharingOf({ team }: Workspace, { sharedWith }: Channel) {
  const pending = { is_pending_ext_shared: false, pending_shared: [], pending_connected_team_ids: [] }
  const own = { ...pending, internal_team_ids: [team.id] }
  if (!sharedWith) return { is_shared: false, is_ext_shared: false, shared_team_ids: [team.id], ...own }
  const others = sharedWith.map(({ id }) => id)
  return {
    is_shared: true,
    is_ext_shared: true,
    shared_team_ids: [team.id, ...others],
    connected_team_ids: others,
    connected_limited_team_ids: [],
    conversation_host_id: team.id,
    ...own,
  }
}
