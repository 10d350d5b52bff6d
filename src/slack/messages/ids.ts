// Names that Slack hands back to us: they must never change meaning, since old messages keep them.

/** The buttons of a build. `open` is a link: Slack reports the click all the same, and it needs an answer. */
export const ACTION_IDS = {
  open: 'build_open',
  stop: 'build_stop',
  restart: 'build_restart',
  claim: 'build_claim',
} as const

/** The button of a red branch. */
export const BREAKAGE_ACTION_ID = 'breakage_own'

/** The row that holds a card's buttons. */
export const ACTIONS_BLOCK_ID = 'build_actions'

/** What travels in the metadata of each message of ours: our claim's key, and the attempt that it told as it appeared ('': none). */
export const CLAIM_EVENT_TYPE = 'buildline_message'

export const claimMetadata = ({ key, postedAttempt }: { key: string; postedAttempt: string | null }) => ({
  event_type: CLAIM_EVENT_TYPE,
  event_payload: { key, born: postedAttempt ?? '' },
})

/** The buttons of a question with several answers, in their order. */
export const CHOICE_ACTION_IDS = ['choose_1', 'choose_2', 'choose_3', 'choose_4', 'choose_5'] as const

/** The row that holds them. */
export const CHOICES_BLOCK_ID = 'answer_choices'

/** The buttons that turn the pages of a list. */
export const PAGE_ACTION_IDS = { previous: 'list_prev', next: 'list_next' } as const

/** The row that holds them. */
export const PAGES_BLOCK_ID = 'answer_pages'

/** The buttons of what a channel follows. */
export const SUBSCRIPTION_ACTION_IDS = {
  add: 'subscription_add',
  change: 'subscription_change',
  remove: 'subscription_remove',
  previous: 'subscriptions_prev',
  next: 'subscriptions_next',
  import: 'subscription_import',
} as const

/** The rows that hold them: of one subscription, and of all. */
export const subscriptionBlockId = (id: string): string => `subscription_${id}`
export const SUBSCRIPTIONS_BLOCK_ID = 'subscriptions'

/** The button that shows what a digest would say, and its row. */
export const DIGEST_ACTION_ID = 'digest_preview'
export const DIGEST_BLOCK_ID = 'digest'

/** The row of a proposal. */
export const IMPORT_BLOCK_ID = 'subscription_import'

/** The buttons of a project. */
export const PROJECT_ACTION_IDS = {
  edit: 'project_edit',
  reset: 'project_reset_key',
  addWebhook: 'project_add_webhook',
} as const

/** The row that holds them. */
export const PROJECT_BLOCK_ID = 'project_actions'

/** The buttons of App Home that stand nowhere else. */
export const HOME_ACTION_IDS = { mentions: 'home_mentions', follow: 'home_follow' } as const

/** The rows that hold Home's buttons. */
export const HOME_BLOCK_IDS = { me: 'home_me_row', red: 'home_red_row', follow: 'home_follow_row' } as const
