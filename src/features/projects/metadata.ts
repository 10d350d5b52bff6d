import * as z from 'zod'
import { isChannelId, isUuid, toUuid, type ChannelId, type Uuid } from '../../domain/ids.ts'
import type { ProjectChange } from '../../domain/ci-project/project-change.ts'
import { fieldOf } from '../../lib/raw-values.ts'
import { type Seal, sealedChars } from '../../lib/seal.ts'
import { textAt } from '../kit/body.ts'
import { cut } from '../../slack/messages/limits.ts'
import { METADATA_CHARS_MAX } from '../kit/modal.ts'
import type { Creation } from './create.ts'

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
  /** see EditInput */
  without?: readonly string[]
}

export interface WaitingCreation {
  kind: 'create'
  name: string
  channel: ChannelId | null
  creation: Creation
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
  ['edit', 'create'].some((kind) => fieldOf(value, 'kind') === kind)

function parse<Value>(schema: z.ZodType<Value>, text: string | null): Value | null {
  try {
    return schema.parse(JSON.parse(text ?? ''))
  } catch {
    return null
  }
}
