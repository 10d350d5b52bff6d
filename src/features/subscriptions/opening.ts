import type { Asker } from '../../catalog/outcomes.ts'
import type { Operations } from '../operations.ts'
import type { PatternPreview, ShownSubscription } from './outcomes.ts'
import { answerNotAllowed } from '../not-allowed.ts'
import { answerSubscribe, answerUnsubscribe } from './messages.ts'
import type { Reply } from '../context.ts'
import { opening, type Opener } from '../modal.ts'
import { subscribeView } from './form-view.ts'

export interface Opening {
  opener: Opener
  operations: Operations
  by: Asker
  reference: string
}

/** Opens the form, empty or (with an id) with a subscription of this channel in it. Who may not is told in its place. */
export const openSubscribe = (asked: Opening, id: string | null): Promise<Reply> =>
  opening(asked.reference, () => open(asked, id))

async function open({ operations, opener, by, reference }: Opening, id: string | null): Promise<Reply> {
  const here = await operations.subscriptions.rules(by.channel)
  const asked = { command: 'subscribe', branch: null, rest: [], reference } as const
  if (here.kind === 'no-channel') return { outcome: 'no-channel', answer: answerSubscribe(here, asked) }
  const shown = here.subscriptions.find(({ subscription }) => subscription.id === id) ?? null
  // Somebody removed it since the button was drawn.
  if (id !== null && !shown)
    return {
      outcome: 'not-subscribed',
      answer: answerUnsubscribe({ kind: 'not-subscribed', text: null, here: here.subscriptions }, asked),
    }
  const isOwn = shown === null || shown.subscription.rules !== null
  const preview = shown && isOwn ? await previewOf(operations, shown) : null
  await opener.open(
    subscribeView({ memory: { channel: here.channel, instead: id, isChosen: false }, shown, isOwn, preview }),
  )
  const permit = await operations.subscriptions.maySubscribe({ user: by.user, team: by.team })
  if (permit.kind === 'yes') return { outcome: 'opened', answer: null }
  return { outcome: permit.kind, answer: answerNotAllowed(permit, { action: 'subscribe', reference }) }
}

function previewOf(
  { subscriptions }: Operations,
  { subscription: { follows, rules } }: ShownSubscription,
): Promise<PatternPreview> {
  const project = follows.what === 'project' ? (follows.uuid ?? follows.projectId ?? follows.name) : 'all'
  const { branch = null, branchMatch = null } = rules?.[0] ?? {}
  return subscriptions.preview({ project, branch, branchMatch })
}
