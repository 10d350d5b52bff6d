// Names that Slack hands back to us: they must never change meaning, since old messages keep them.

/** The buttons of a card. `open` is a link: Slack reports the click all the same, and it needs an answer. */
export const ACTION_IDS = { open: 'build_open' } as const

/** The row that holds a card's buttons. */
export const ACTIONS_BLOCK_ID = 'build_actions'

/** What our claim's key travels as, in a message's metadata. */
export const CLAIM_EVENT_TYPE = 'buildline_message'

export const claimMetadata = (key: string) => ({ event_type: CLAIM_EVENT_TYPE, event_payload: { key } })
