import * as z from 'zod'
import { isChannelId, isUuid, toUuid, type ChannelId, type Uuid } from '../../domain/ids.ts'
import type { ProjectChange } from '../../domain/project-change.ts'
import { type Seal, sealedChars } from '../../lib/seal.ts'
import type { Requester } from '../../catalog/outcomes.ts'
import type { Creation } from './outcomes.ts'
import { requesterOf, textAt } from '../body.ts'
import { cut } from '../../slack/messages/limits.ts'
import { METADATA_CHARS_MAX } from '../modal.ts'

// The state of project forms. Slack stores it in each form, so that they work after a restart and in any process.

/** An open form: the project, and the channel where it was opened. */
export interface FormMemory {
  project: Uuid
  name: string
  channel: ChannelId | null
  /** for the form to edit: the digests of the fields as it showed them, and the part that is being changed */
  base: Readonly<Record<string, string>>
  part: string | null
  /** the notifier of the rule that is being changed, and the names of its options */
  rule: { notifier: string; options: readonly string[] } | null
}

/** A longer name is cut, since it is only shown. */
const NAME_CHARS_MAX = 200

export const writeMemory = (memory: FormMemory): string => JSON.stringify({ ...memory, name: nameIn(memory.name) })

/** A project's name, as forms remember it. */
export const nameIn = (name: string): string => cut(name, NAME_CHARS_MAX)

/** Null for what was not written by `writeMemory`. */
export const readMemory = (body: unknown): FormMemory | null => parse(MEMORY, textAt(body, 'view', 'private_metadata'))

/** A change that waits to be sent. */
export interface WaitingEdit {
  kind: 'edit'
  project: Uuid
  name: string
  channel: ChannelId | null
  change: ProjectChange
  base: Readonly<Record<string, string>>
  fields: readonly string[]
  /** see EditQuestion */
  without?: readonly string[]
}

export interface WaitingCreation {
  kind: 'create'
  name: string
  channel: ChannelId | null
  creation: Creation
  evenIfThere: boolean
}

/** Encrypted, since it may hold secrets that somebody typed. */
export const writeWaiting = (seal: Seal, waiting: WaitingEdit | WaitingCreation): string =>
  seal.close(JSON.stringify(waiting))

/** By how many characters the encrypted text exceeds Slack's limit; 0: it fits. */
export const tooLongBy = (waiting: object): number =>
  Math.max(0, sealedChars(JSON.stringify(waiting)) + ROOM_LEFT_CHARS - METADATA_CHARS_MAX)

/** Reserved for what is known only after CI has answered. */
const ROOM_LEFT_CHARS = 200

export function readWaiting<Kind extends 'edit' | 'create'>(
  seal: Seal,
  body: unknown,
  kind: Kind,
): Extract<WaitingEdit | WaitingCreation, { kind: Kind }> | null {
  const text = seal.open(textAt(body, 'view', 'private_metadata') ?? '')
  const read: unknown = text === null ? null : JSON.parse(text)
  // Only Buildline can have encrypted it, but perhaps another version.
  return isWaiting(read, kind) ? read : null
}

const isWaiting = <Kind extends 'edit' | 'create'>(
  value: unknown,
  kind: Kind,
): value is Extract<WaitingEdit | WaitingCreation, { kind: Kind }> =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === kind

/** The channel where a form was opened, for forms that store nothing else. */
export const channelOf = (body: unknown): ChannelId | null =>
  parse(z.object({ channel: channelId }), textAt(body, 'view', 'private_metadata'))?.channel ?? null

/** The requester of a form; their channel is the one where the form was opened. */
export const requesterIn = (body: unknown, channel: ChannelId | null): Requester => ({
  ...requesterOf(body, 'modal'),
  channel,
})

const uuid = z.string().refine(isUuid).transform(toUuid)
const channelId = z.custom<ChannelId>((value) => typeof value === 'string' && isChannelId(value)).nullable()

const MEMORY = z.object({
  project: uuid,
  name: z.string(),
  channel: channelId,
  base: z.record(z.string(), z.string()),
  part: z.string().nullable(),
  rule: z.object({ notifier: z.string(), options: z.array(z.string()) }).nullable(),
})

function parse<Value>(schema: z.ZodType<Value>, text: string | null): Value | null {
  try {
    return schema.parse(JSON.parse(text ?? ''))
  } catch {
    return null
  }
}
