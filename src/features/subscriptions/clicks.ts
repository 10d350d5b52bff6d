import { SUBSCRIPTION_ACTION_IDS } from '../../slack/messages/ids.ts'
import { answerOf, line, nextStep } from '../../slack/messages/answer.ts'
import { typed } from '../../slack/messages/typed.ts'
import { pageOf } from '../values.ts'
import { rulesPage } from './rules-command.ts'
import { unsubscribeFrom } from './unsubscribe-command.ts'
import type { Reply } from '../context.ts'
import { openSubscribe } from './opening.ts'
import type { Click } from '../click.ts'

/** The buttons of `/ci rules`, by action id. */
export const SUBSCRIPTION_CLICKS: ReadonlyMap<string, (click: Click) => Promise<Reply | null>> = new Map([
  [SUBSCRIPTION_ACTION_IDS.add, (click) => open(click, null)],
  [SUBSCRIPTION_ACTION_IDS.change, change],
  [SUBSCRIPTION_ACTION_IDS.remove, remove],
  [SUBSCRIPTION_ACTION_IDS.previous, turnRules],
  [SUBSCRIPTION_ACTION_IDS.next, turnRules],
] satisfies [string, (click: Click) => Promise<Reply | null>][])

const ID = /^\d{1,15}$/

async function change(click: Click): Promise<Reply | null> {
  return ID.test(click.value) ? open(click, click.value) : null
}

async function open({ door, by, opener, reference }: Click, id: string | null): Promise<Reply> {
  if (opener) return openSubscribe({ opener, operations: door.operations, by, reference }, id)
  return { outcome: 'no-trigger', answer: TYPE_INSTEAD }
}

const TYPE_INSTEAD = answerOf([
  line(':mag: *No form can be opened from here*; nothing was done.'),
  line(nextStep(`Type ${typed('/ci subscribe')} in the channel.`)),
])

async function remove({ door, value, by, reference }: Click): Promise<Reply | null> {
  return ID.test(value)
    ? unsubscribeFrom({ operations: door.operations, by, reference }, { project: null, id: value })
    : null
}

/** Prev and Next show the page as it is now. */
async function turnRules({ door, value, by, reference }: Click): Promise<Reply | null> {
  const page = pageOf(value)
  return page === null ? null : rulesPage({ operations: door.operations, by, reference }, page)
}
