import {
  PROJECT_ACTION_IDS,
  CHOICE_ACTION_IDS,
  PAGE_ACTION_IDS,
  ACTION_IDS,
  HOME_ACTION_IDS,
} from '../slack/messages/ids.ts'
import { fieldOf } from '../domain/raw-values.ts'
import { answerOld } from './fault-messages.ts'
import { askerOf, listAt, textAt } from './body.ts'
import type { Door, Reply } from './context.ts'
import { placeOf } from './reply-target.ts'
import { respond } from './respond.ts'
import { FIND_ACTION_IDS } from './builds/find-modal.ts'
import { chooseInFind } from './builds/find.ts'
import { fieldToldBy } from './forms.ts'
import { openingPlace } from './modal.ts'
import { restartRun, stopRun } from './builds/act-click.ts'
import type { Click } from './click.ts'
import { repeatWithChoice } from './choice.ts'
import { openFollow, toggleMentions } from './home/clicks.ts'
import { turnPage } from './list/page-click.ts'
import { editProject, resetProjectKey } from './projects/clicks.ts'
import { SUBSCRIPTION_CLICKS } from './subscriptions/clicks.ts'

interface ClickRow {
  what: string
  /** the answer takes the place of the question, which only the asker sees */
  replaces: boolean
  /** null: the value is not one that we can have written */
  answer: (click: Click) => Promise<Reply | null>
}

const CLICKS: ReadonlyMap<string, ClickRow> = new Map<string, ClickRow>([
  [ACTION_IDS.stop, { what: 'stop', replaces: false, answer: stopRun }],
  [ACTION_IDS.restart, { what: 'restart', replaces: false, answer: restartRun }],
  [PAGE_ACTION_IDS.previous, { what: 'list', replaces: true, answer: turnPage }],
  [HOME_ACTION_IDS.follow, { what: 'follow a project', replaces: false, answer: openFollow }],
  [HOME_ACTION_IDS.mentions, { what: 'mentions', replaces: false, answer: toggleMentions }],
  [PAGE_ACTION_IDS.next, { what: 'list', replaces: true, answer: turnPage }],
  ...[...SUBSCRIPTION_CLICKS].map(([id, answer]): [string, ClickRow] => [
    id,
    { what: 'rules', replaces: true, answer },
  ]),
  [PROJECT_ACTION_IDS.edit, { what: 'project', replaces: false, answer: editProject }],
  [PROJECT_ACTION_IDS.reset, { what: 'project', replaces: false, answer: resetProjectKey }],
  ...CHOICE_ACTION_IDS.map((id): [string, ClickRow] => [
    id,
    { what: 'choice', replaces: true, answer: repeatWithChoice },
  ]),
])

/** Is somebody there for this action? Every id that we render must be. */
export const isAnswered = (actionId: string): boolean =>
  actionId === ACTION_IDS.open ||
  CLICKS.has(actionId) ||
  FIND_ACTION_IDS.has(actionId) ||
  fieldToldBy(actionId) !== null

/** A click or a choice in a message or a modal, after it was acknowledged. */
export async function answerAction(door: Door, body: unknown): Promise<void> {
  const [action] = listAt(body, 'actions')
  if (action === undefined) return
  const id = textAt(action, 'action_id') ?? ''
  // A link button opens its address by itself; Slack tells us all the same.
  if (id === ACTION_IDS.open) return
  if (FIND_ACTION_IDS.has(id)) return chooseInFind(door, body, action)
  const told = fieldToldBy(id)
  if (told) return told(door, body, action)
  await answerClick(door, body, CLICKS.get(id) ?? OLD, textAt(action, 'value') ?? '')
}

const OLD: ClickRow = { what: 'old', replaces: false, answer: async () => null }

function answerClick(door: Door, body: unknown, row: ClickRow, value: string): Promise<void> {
  const by = askerOf(body, textAt(body, 'view', 'id') === null ? 'button' : 'modal')
  // What everybody sees is never replaced by what one person asked.
  const { opener, place } = openingPlace(door, body, placeOf(door, body, row.replaces && isOwnMessage(body)))
  return respond(
    door,
    { what: row.what, by, place },
    async (reference) =>
      (await row.answer({ door, value, by, opener, reference })) ?? { outcome: 'old', answer: answerOld() },
  )
}

const isOwnMessage = (body: unknown): boolean => fieldOf(fieldOf(body, 'container'), 'is_ephemeral') === true
