import { isChannelId, type ChannelId } from '../../domain/ids.ts'
import { sinceWords, ownershipWords } from '../../slack/messages/streak.ts'
import { directReplyTarget } from '../../slack/reply-targets.ts'
import { plain, section } from '../../slack/messages/blocks.ts'
import { joined } from '../../slack/messages/build.ts'
import { requesterIn, textAt } from '../kit/body.ts'
import { replyTo } from '../kit/command.ts'
import type { Reply, SlackDeps } from '../kit/context.ts'
import type { Click } from '../kit/feature.ts'
import { choiceField, chosenIn, fieldOption } from '../kit/fields.ts'
import { formView, oldForm, openFor, refusing, type Form, type ModalView, type Received } from '../kit/modal.ts'
import { respond } from '../kit/respond.ts'
import { act, findRed, HOUR_MINUTES, type StreakAction, type StreakDeps, type RedBranch } from './action.ts'
import { answerStreak, answerNotRed, subjectOf } from './messages.ts'

// The form of a red branch: take it, hand it over, snooze its reminders, or let it go.

export const STREAK_CALLBACK_ID = 'breakage'

const FIELDS = { action: 'breakage_wish', to: 'breakage_to' } as const

const TITLE = 'Red branch'

const LET_GO = 'let-go'

/** The choices and what each one does. `hand`: the form's other field says to whom. */
const CHOICES: readonly { value: string; text: string; action: StreakAction | 'hand' }[] = [
  { value: 'take-1', text: "I'm on it for 1 hour", action: { kind: 'take', span: HOUR_MINUTES } },
  { value: 'take-4', text: "I'm on it for 4 hours", action: { kind: 'take', span: 4 * HOUR_MINUTES } },
  { value: 'take-tomorrow', text: "I'm on it until tomorrow 9:00", action: { kind: 'take', span: 'tomorrow' } },
  { value: 'hand', text: 'Hand it over', action: 'hand' },
  { value: 'snooze-4', text: 'Snooze reminders for 4 hours', action: { kind: 'snooze', minutes: 4 * HOUR_MINUTES } },
  { value: 'snooze-24', text: 'Snooze reminders for 1 day', action: { kind: 'snooze', minutes: 24 * HOUR_MINUTES } },
  { value: 'snooze-168', text: 'Snooze reminders for 7 days', action: { kind: 'snooze', minutes: 168 * HOUR_MINUTES } },
  { value: LET_GO, text: 'Let it go', action: { kind: 'let-go' } },
]

/** What the form remembers: the streak, and where it was opened. */
interface Memory {
  id: string
  channel: ChannelId | null
}

/** @param user who opened it: only the person who is on the branch can let it go */
export const streakView = (memory: Memory, red: RedBranch, user: string): ModalView =>
  formView({
    id: STREAK_CALLBACK_ID,
    title: TITLE,
    submit: 'Save',
    metadata: `${memory.id} ${memory.channel ?? ''}`,
    blocks: [
      section(joined([`:x: ${subjectOf(red)} has been red ${sinceWords(red)}.`, ownershipWords(red.ownership)], '\n')),
      choiceField(
        { block: FIELDS.action, label: 'What do you want to do?' },
        CHOICES.filter(({ value }) => value !== LET_GO || red.ownership.owner?.user === user).map(({ text, value }) =>
          fieldOption(text, value),
        ),
        'take-1',
      ),
      {
        type: 'input',
        block_id: FIELDS.to,
        label: plain('To whom'),
        hint: plain('Only to hand it over: a full member of this workspace.'),
        optional: true,
        element: { type: 'users_select', action_id: FIELDS.to },
      },
    ],
  })

/** Opens the form, or answers that the branch is no longer red. People without permission see a refusal in the form. */
export async function openStreak(
  deps: StreakDeps,
  { value, by, modalOpener, reference }: Click,
): Promise<Reply | null> {
  if (!modalOpener || !/^\d{1,20}$/.test(value)) return null
  const result = await findRed(deps, { kind: 'streak', id: value })
  if (result.kind !== 'red') return replyTo(result, answerNotRed(result, { command: 'red', reference }))
  const view = streakView({ id: value, channel: by.channel }, result.red, by.user)
  return openFor(modalOpener, view, () => deps.permits('own', by), { action: 'own', reference })
}

const WHAT = 'look after a red branch'

export const streakForm = (deps: StreakDeps): Form => ({
  what: WHAT,
  receive: (body) => receive(deps, body),
})

function receive(deps: StreakDeps, body: unknown): Received {
  const memory = memoryIn(body)
  const chosen = CHOICES.find(({ value }) => value === chosenIn(body, FIELDS.action))
  if (!memory) return oldForm(TITLE)
  if (!chosen) return refusing({ [FIELDS.action]: 'Choose what to do.' })
  const to = textAt(body, 'view', 'state', 'values', FIELDS.to, FIELDS.to, 'selected_user')
  if (chosen.action !== 'hand') {
    if (to !== null) return refusing({ [FIELDS.to]: 'Choose "Hand it over" above, or remove this person.' })
    const { action } = chosen
    return { ack: null, work: (slack) => save(deps, slack, body, memory, action) }
  }
  if (to === null) return refusing({ [FIELDS.to]: 'Choose a person.' })
  return {
    ack: null,
    check: async () => {
      const permit = await deps.permits('own', { user: to, team: null })
      return permit.kind === 'no' ? { [FIELDS.to]: 'Only full members of this workspace can look after a branch.' } : {}
    },
    work: (slack) => save(deps, slack, body, memory, { kind: 'hand', to }),
  }
}

/** The form is closed and the card shows the change, so only a failure is answered, in a direct message. */
function save(
  deps: StreakDeps,
  slack: SlackDeps,
  body: unknown,
  { id, channel }: Memory,
  action: StreakAction,
): Promise<void> {
  const by = requesterIn(body, channel)
  const replyTarget = directReplyTarget(slack.client, by.user)
  return respond(slack, { what: WHAT, by, replyTarget }, async (reference) => {
    const outcome = await act(deps, { kind: 'streak', id }, action, by)
    const answer = outcome.kind === 'changed' ? null : answerStreak(outcome, { command: 'red', reference })
    return replyTo(outcome, answer)
  })
}

function memoryIn(body: unknown): Memory | null {
  const [, id, channel = ''] = /^(\d+) (\w*)$/.exec(textAt(body, 'view', 'private_metadata') ?? '') ?? []
  return id === undefined ? null : { id, channel: isChannelId(channel) ? channel : null }
}
