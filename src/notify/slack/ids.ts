// Names that Slack hands back to us: they must never change meaning, since old messages keep them.

/** The buttons of a card. `open` is a link: Slack reports the click all the same, and it needs an answer. */
export const ACTION_IDS = { open: 'build_open', stop: 'build_stop', restart: 'build_restart' } as const

/** The row that holds a card's buttons. */
export const ACTIONS_BLOCK_ID = 'build_actions'

/** What our claim's key travels as, in a message's metadata. */
export const CLAIM_EVENT_TYPE = 'buildline_message'

export const claimMetadata = (key: string) => ({ event_type: CLAIM_EVENT_TYPE, event_payload: { key } })

/** The buttons of a question with several answers, in their order. */
export const CHOICE_ACTION_IDS = ['choose_1', 'choose_2', 'choose_3', 'choose_4', 'choose_5'] as const

/** The row that holds them. */
export const CHOICES_BLOCK_ID = 'answer_choices'

/** The buttons that turn the pages of a list. */
export const PAGE_ACTION_IDS = { previous: 'list_prev', next: 'list_next' } as const

/** The row that holds them. */
export const PAGES_BLOCK_ID = 'answer_pages'
