// Ids that Slack sends back to us. Their meaning must never change, because old messages keep them.

/** The buttons of a build. `open` is a link, but Slack reports the click too, and it must be acknowledged. */
export const ACTION_IDS = {
  open: 'build_open',
  stop: 'build_stop',
  restart: 'build_restart',
  approve: 'build_approve',
  reject: 'build_reject',
  play: 'build_play',
  claim: 'build_claim',
} as const

/** The button of a red branch. */
export const STREAK_ACTION_ID = 'breakage_own'

/** The row that holds a card's buttons. */
export const ACTIONS_BLOCK_ID = 'build_actions'

/** Metadata of each message: the claim's key, and the attempt whose end it showed when posted ('': none). */
export const CLAIM_EVENT_TYPE = 'buildline_message'

export const claimMetadata = ({ key, postedAttempt }: { key: string; postedAttempt: string | null }) => ({
  event_type: CLAIM_EVENT_TYPE,
  event_payload: { key, born: postedAttempt ?? '' },
})

/** The buttons of a question, in the order of its choices. */
export const CHOICE_ACTION_IDS = ['choose_1', 'choose_2', 'choose_3', 'choose_4', 'choose_5'] as const

/** The most choices that one answer offers. */
export const CHOICES_MAX = CHOICE_ACTION_IDS.length

/** The row that holds them. */
export const CHOICES_BLOCK_ID = 'answer_choices'

/** The buttons that turn the pages of a list. */
export const PAGE_ACTION_IDS = { previous: 'list_prev', next: 'list_next' } as const

/** The row that holds them. */
export const PAGES_BLOCK_ID = 'answer_pages'

/** The buttons of a channel's subscriptions. */
export const SUBSCRIPTION_ACTION_IDS = {
  add: 'subscription_add',
  change: 'subscription_change',
  remove: 'subscription_remove',
  import: 'subscription_import',
} as const

/** The rows of these buttons: for one subscription, and for all. */
export const subscriptionBlockId = (id: string): string => `subscription_${id}`
export const SUBSCRIPTIONS_BLOCK_ID = 'subscriptions'

/** The row of an import proposal. */
export const IMPORT_BLOCK_ID = 'subscription_import'

export const PROJECT_ACTION_IDS = {
  edit: 'project_edit',
  reset: 'project_reset_key',
  addWebhook: 'project_add_webhook',
} as const

/** The row that holds them. */
export const PROJECT_BLOCK_ID = 'project_actions'

/** The buttons that only App Home has. */
export const HOME_ACTION_IDS = { mentions: 'home_mentions' } as const

export const HOME_BLOCK_IDS = { me: 'home_me_row', red: 'home_red_row', othersRed: 'home_others_red_row' } as const
