import { isChannelId } from '../../domain/ids.ts'
import { plain } from '../../slack/messages/blocks.ts'
import { textAt } from '../body.ts'
import { refusing, showing, type Form } from '../form.ts'
import type { ModalView } from '../modal-view.ts'
import { subscribeView } from '../subscriptions/form-view.ts'

export const FOLLOW_CALLBACK_ID = 'home_follow'

/** The one field, and its block. */
const CHANNEL = 'home_follow_channel'

/** Home is in no channel: which one shall follow is asked first, and the form of a subscription comes after it. */
export const followView: ModalView = {
  type: 'modal',
  callback_id: FOLLOW_CALLBACK_ID,
  title: plain('Follow builds'),
  submit: plain('Next'),
  close: plain('Cancel'),
  blocks: [
    {
      type: 'input',
      block_id: CHANNEL,
      label: plain('Which channel shall be told?'),
      element: {
        type: 'conversations_select',
        action_id: CHANNEL,
        filter: { include: ['public', 'private'] },
        focus_on_load: true,
      },
    },
  ],
}

export const followForm: Form = {
  what: 'follow a project',
  receive(body) {
    const channel = textAt(body, 'view', 'state', 'values', CHANNEL, CHANNEL, 'selected_conversation') ?? ''
    if (!isChannelId(channel)) return refusing({ [CHANNEL]: 'Choose a channel.' })
    const form = { memory: { channel, instead: null, isChosen: true }, shown: null, isOwn: true, preview: null }
    return { ack: showing('update', subscribeView(form)), work: null }
  },
}
