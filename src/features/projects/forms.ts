import * as z from 'zod'
import type { AnswerContext } from '../../slack/messages/answer.ts'
import { type ChannelId, isChannelId, isUuid, toUuid, type Uuid } from '../../domain/ids.ts'
import type { Requester } from '../../projects/outcomes.ts'
import { answerNotOpened } from '../kit/fault-messages.ts'
import { requesterIn, textAt } from '../kit/body.ts'
import type { Interaction } from '../kit/command.ts'
import type { Reply, SlackDeps } from '../kit/context.ts'
import {
  opening,
  showing,
  waitingView,
  type Received,
  type ModalView,
  answerView,
  METADATA_CHARS_MAX,
} from '../kit/modal.ts'
import { respond } from '../kit/respond.ts'
import { jsonOf } from '../kit/values.ts'
import { slackCodeOf, type ReplyTarget } from '../../slack/reply-targets.ts'
import { answerNotSent } from './messages.ts'
import type { ProjectDeps } from './outcomes.ts'
import { refusalToAdminister } from './read.ts'
import type { ProjectChange } from '../../domain/ci-project/project-change.ts'
import { fieldOf } from '../../lib/raw-values.ts'
import { type Seal, sealedChars } from '../../lib/seal.ts'
import { cut } from '../../slack/messages/limits.ts'
import type { ProjectCreation } from '../../sources/ci-service/check-creation.ts'

// Shared by the forms of projects: how they open, and where their outcomes are shown.

/** The purpose of a form. */
export type ProjectVerb = keyof typeof TITLES

export const TITLES = {
  create: 'Create a project',
  edit: 'Edit a project',
  'reset-aes-key': 'Reset an AES key',
} as const

export const projectContext = (verb: ProjectVerb, reference: string): AnswerContext => ({
  command: 'project',
  rest: [verb],
  reference,
})

/** Shown until CI has answered. */
export const waitingFor = (verb: ProjectVerb, text: string, close?: string): ModalView =>
  waitingView(TITLES[verb], text, close)

/** The view or answer that replaces a waiting view. */
export type Next = { outcome: string; view: ModalView } | Reply

/** The result of `look` if this person may change projects; otherwise why they may not. */
export async function ifAdmin<Found>(
  deps: ProjectDeps,
  { by, reference }: Pick<Interaction, 'by' | 'reference'>,
  verb: ProjectVerb,
  look: () => Promise<Found>,
): Promise<Found | Reply> {
  const refused = await refusalToAdminister(deps, by)
  if (!refused) return look()
  return { outcome: refused.kind, answer: answerNotSent(refused, projectContext(verb, reference)) }
}

/** Opens a waiting view at once, and shows in it what `look` finds. */
export async function openForm(
  deps: ProjectDeps,
  interaction: Interaction,
  verb: ProjectVerb,
  text: string,
  look: () => Promise<Next>,
): Promise<Reply> {
  const { modalOpener, reference } = interaction
  if (!modalOpener) return { outcome: 'no-opener', answer: answerNotOpened('mention', reference) }
  return opening(reference, async () => {
    const modal = await modalOpener.open(waitingFor(verb, text))
    const next = await ifAdmin(deps, interaction, verb, look)
    if (!('view' in next)) return next
    await modal.show(next.view)
    return { outcome: next.outcome, answer: null }
  })
}

/** Pushes a waiting view on top of the submitted form, and shows in it what `look` finds. */
export function pushView(
  body: unknown,
  verb: ProjectVerb,
  { channel, waiting }: { channel: ChannelId | null; waiting: ModalView },
  look: (slack: SlackDeps, by: Requester, reference: string) => Promise<Next>,
): Received {
  // Slack does not return the id of a pushed view, so it gets one of ours.
  const name = `pushed-${textAt(body, 'trigger_id') ?? textAt(body, 'view', 'id') ?? ''}`
  return {
    ack: showing('push', { ...waiting, external_id: name }),
    work(slack) {
      const by = requesterIn(body, channel)
      const show = (view: ModalView) => showPushed(slack, name, view)
      const replyTarget: ReplyTarget = { conversation: null, show: (answer) => show(answerView(TITLES[verb], answer)) }
      return respond(slack, { what: `project ${verb}`, by, replyTarget }, async (reference) => {
        const next = await look(slack, by, reference)
        if (!('view' in next)) return next
        await show(next.view)
        return { outcome: next.outcome, answer: null }
      })
    },
  }
}

/** Slack shows a pushed view a moment after the acknowledgement: the update is tried this often, this far apart. */
const TRIES_MAX = 5
const TRY_AFTER_MS = 300

/** Replaces a pushed view. If the person has closed it, the change is given up, and nothing is shown. */
async function showPushed(
  { client, clock }: Pick<SlackDeps, 'client' | 'clock'>,
  name: string,
  view: ModalView,
): Promise<void> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    try {
      await client.apiCall('views.update', { external_id: name, view: { ...view, external_id: name } })
      return
    } catch (error) {
      if (slackCodeOf(error) !== 'not_found') throw error
      if (tries < TRIES_MAX) await clock.sleep(TRY_AFTER_MS)
    }
  }
}

// The state of project forms. Slack stores it in each form, so that they work after a restart and in any process.

const channelId = z.custom<ChannelId>((value) => typeof value === 'string' && isChannelId(value)).nullable()

/** An open form: the project, and the channel where it was opened. */
const MEMORY = z.object({
  project: z.string().refine(isUuid).transform(toUuid),
  name: z.string(),
  channel: channelId,
  /** for the form to edit: the digests of the fields as it showed them, and the part that is being changed */
  base: z.record(z.string(), z.string()),
  part: z.string().nullable(),
  /** the notifier of the rule that is being changed, and the names of its options */
  rule: z.object({ notifier: z.string(), options: z.array(z.string()) }).nullable(),
})

export type FormMemory = z.output<typeof MEMORY>

/** A longer name is cut, since it is only shown. */
const NAME_CHARS_MAX = 200

export const writeMemory = (memory: FormMemory): string => JSON.stringify({ ...memory, name: nameIn(memory.name) })

/** A project's name, as forms remember it. */
export const nameIn = (name: string): string => cut(name, NAME_CHARS_MAX)

/** Null if `writeMemory` did not write it. */
export const readMemory = (body: unknown): FormMemory | null =>
  MEMORY.safeParse(jsonOf(textAt(body, 'view', 'private_metadata') ?? '')).data ?? null

/** A change that waits to be sent. */
export interface WaitingEdit {
  kind: 'edit'
  project: Uuid
  name: string
  channel: ChannelId | null
  change: ProjectChange
  base: Readonly<Record<string, string>>
  /** see EditInput */
  without?: readonly string[]
}

export interface WaitingCreation {
  kind: 'creation'
  name: string
  channel: ChannelId | null
  creation: ProjectCreation
  evenIfThere: boolean
}

/** Encrypted, since it may hold typed secrets. */
export const writeWaiting = (seal: Seal, waiting: WaitingEdit | WaitingCreation): string =>
  seal.close(JSON.stringify(waiting))

/** By how many characters the encrypted text exceeds Slack's limit; 0: it fits. */
export const tooLongBy = (waiting: object): number =>
  Math.max(0, sealedChars(JSON.stringify(waiting)) + ROOM_LEFT_CHARS - METADATA_CHARS_MAX)

/** Reserved for data that is known only after CI has answered. */
const ROOM_LEFT_CHARS = 200

export function readWaiting(seal: Seal, body: unknown): WaitingEdit | WaitingCreation | null {
  const text = seal.open(textAt(body, 'view', 'private_metadata') ?? '')
  const read: unknown = text === null ? null : JSON.parse(text)
  return isWaiting(read) ? read : null
}

// Buildline encrypted it, but perhaps in another version.
const isWaiting = (value: unknown): value is WaitingEdit | WaitingCreation =>
  ['edit', 'creation'].some((kind) => fieldOf(value, 'kind') === kind)
