import { escapePlain, toLine } from '../../lib/escape.ts'
import { plain, type ActionButton } from '../../slack/messages/blocks.ts'
import { SUBSCRIPTION_ACTION_IDS } from '../../slack/messages/ids.ts'
import { CONFIRM_CHARS_MAX, cut, PROJECT_CHARS_MAX } from '../../slack/messages/limits.ts'
import type { ShownSubscription } from './outcomes.ts'

/** Of those that were made in Slack: what a file or a setting keeps is changed there. */
export function removeButton({ subscription }: ShownSubscription): ActionButton[] {
  if (subscription.source !== 'slack' || subscription.id === undefined) return []
  const { follows } = subscription
  const name = follows.what === 'project' ? escapePlain(cut(toLine(follows.name), PROJECT_CHARS_MAX)) : 'all projects'
  return [
    {
      type: 'button',
      action_id: SUBSCRIPTION_ACTION_IDS.remove,
      text: plain('Remove'),
      value: subscription.id,
      style: 'danger',
      confirm: {
        title: plain('Remove this subscription?'),
        text: plain(
          cut(`This channel is told of ${name} no more by it, and hears that you removed it.`, CONFIRM_CHARS_MAX),
        ),
        confirm: plain('Remove it'),
        deny: plain('Keep it'),
        style: 'danger',
      },
    },
  ]
}

export const changeButton = ({ subscription }: ShownSubscription): ActionButton[] =>
  subscription.source !== 'slack' || subscription.id === undefined
    ? []
    : [
        {
          type: 'button',
          action_id: SUBSCRIPTION_ACTION_IDS.change,
          text: plain('Change'),
          value: subscription.id,
        },
      ]

export const addButton: ActionButton = {
  type: 'button',
  action_id: SUBSCRIPTION_ACTION_IDS.add,
  text: plain('Follow more'),
  value: 'new',
}
