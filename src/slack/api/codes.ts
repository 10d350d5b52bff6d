import type { Failure } from '../notifier.ts'

/** What a word in an answer's `error` means for us. A word that nobody told us of refuses the message. */
export const failureOfCode = (code: string): Failure['kind'] =>
  BY_CODE.get(code) ?? (code.startsWith('restricted_action') ? 'channel-closed' : 'refused')

/** Whether it has the shape of one of Slack's error words, and so is neither outside text nor a broken answer. */
export const isErrorCode = (code: unknown): code is string => typeof code === 'string' && /^[a-z0-9_]{1,80}$/.test(code)

const WORDS = {
  'rate-limited': ['ratelimited', 'rate_limited', 'message_limit_exceeded'],
  // Slack's own trouble: it may have done what we asked before it failed.
  unclear: ['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'update_failed'],
  // For the time of a move between organizations nothing is taken.
  unsent: ['team_added_to_org', 'external_channel_migrating'],
  'message-gone': [
    'message_not_found',
    'thread_not_found',
    'cant_update_message',
    'cant_delete_message',
    'cannot_reply_to_message',
    'edit_window_closed',
    // The one thread is locked, not the channel.
    'restricted_action_thread_locked',
  ],
  'thread-closed': ['restricted_action_non_threadable_channel'],
  'channel-closed': [
    'channel_not_found',
    'not_in_channel',
    'is_archived',
    'is_inactive',
    'access_denied',
    'channel_type_not_supported',
    'channel_is_limited_access',
    'messages_tab_disabled',
  ],
  'workspace-closed': [
    'account_inactive',
    'token_revoked',
    'token_expired',
    'invalid_auth',
    'not_authed',
    'missing_scope',
    'not_allowed_token_type',
    'no_permission',
    'org_login_required',
    'team_access_not_granted',
    'team_not_found',
    'two_factor_setup_required',
    'enterprise_is_restricted',
    'ekm_access_denied',
    'accesslimited',
  ],
} satisfies Partial<Record<Failure['kind'], readonly string[]>>

const BY_CODE = new Map<string, Failure['kind']>([
  ...wordsOf('rate-limited'),
  ...wordsOf('unclear'),
  ...wordsOf('unsent'),
  ...wordsOf('message-gone'),
  ...wordsOf('thread-closed'),
  ...wordsOf('channel-closed'),
  ...wordsOf('workspace-closed'),
])

function wordsOf(kind: keyof typeof WORDS) {
  return WORDS[kind].map((code) => [code, kind] as const)
}
