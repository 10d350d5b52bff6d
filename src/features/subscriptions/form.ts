import { faultsOf } from './wish.ts'
import { askerOf, textAt } from '../body.ts'
import { subscribeReply } from './subscribe-reply.ts'
import type { Door } from '../context.ts'
import { directPlace } from '../../slack/reply-targets/message.ts'
import { respond } from '../respond.ts'
import { refusing, showing, type FieldTold, type Form, type Received } from '../form.ts'
import { placeIn, showIn } from '../modal.ts'
import {
  pendingView,
  readSubscribeForm,
  SUBSCRIBE_FIELDS,
  SUBSCRIBE_TITLE,
  subscribeView,
  type Filled,
} from './form-view.ts'

/** What a channel follows, filled in. */
export const subscribeForm: Form = {
  what: 'subscribe',
  receive,
  actions: new Map<string, FieldTold>([
    [SUBSCRIBE_FIELDS.project, redraw],
    [SUBSCRIBE_FIELDS.how, redraw],
    [SUBSCRIBE_FIELDS.branch, redraw],
  ]),
}

function receive(body: unknown): Received {
  const filled = readSubscribeForm(body)
  if (!filled) return { ack: null, work: null }
  const [fault] = faultsOf(filled.wish)
  if (fault) return refusing({ [blockOf(fault.field, filled)]: `This ${fault.reason}.` })
  return {
    ack: showing('update', pendingView),
    work: (door) => keep(door, body, filled),
  }
}

/** A fault stands at its field, or at the first one where that field is not shown. */
function blockOf(field: string, { isOwn }: Filled): string {
  if (isOwn && field === 'events') return SUBSCRIBE_FIELDS.events
  return isOwn && field === 'branch' ? SUBSCRIBE_FIELDS.branch : SUBSCRIBE_FIELDS.project
}

function keep(door: Door, body: unknown, { memory, wish }: Filled): Promise<void> {
  const by = { ...askerOf(body, 'modal'), channel: memory.channel }
  const viewId = textAt(body, 'view', 'id') ?? ''
  const place = placeIn(door.client, viewId, SUBSCRIBE_TITLE, directPlace(door.client, by.user))
  return respond(door, { what: 'subscribe', by, place }, async (reference) =>
    subscribeReply(await door.operations.subscriptions.subscribe(wish, by), { rest: [], reference }),
  )
}

/** A field was changed: the fields that it calls for are shown, and the branches that match now. */
async function redraw(door: Door, body: unknown): Promise<void> {
  const filled = readSubscribeForm(body)
  const viewId = textAt(body, 'view', 'id')
  if (!filled || viewId === null) return
  // Of two quick letters the first may be looked up last: only the newest is shown.
  const isCurrent = door.newest.note(viewId)
  try {
    const { memory, isOwn } = filled
    const preview = isOwn ? await previewOf(door, body, filled) : null
    if (isCurrent()) await showIn(door.client, viewId, subscribeView({ memory, shown: null, isOwn, preview }))
  } catch (error) {
    door.log.warn({ err: error, ask: 'subscribe' }, 'a form could not be redrawn')
  }
}

/** Outsiders see no branches. */
async function previewOf({ operations }: Door, body: unknown, { project, wish }: Filled) {
  const { user, team } = askerOf(body, 'modal')
  if (project === null) return null
  const permit = await operations.mayRead({ user, team })
  return permit.kind === 'yes' ? operations.subscriptions.preview(wish) : null
}
