import * as z from 'zod'
import { parseAttemptRef, attemptRefText, type AttemptRef } from '../../domain/cards/request.ts'
import type { ListQuery } from '../../projects/outcomes.ts'

// Writes and reads the values of buttons. A value comes back over the network, perhaps from a very old version.

/** Slack's limit for a button's value, in characters. */
export const VALUE_CHARS_MAX = 2_000
/** The largest page number that is read. No list has this many pages. */
export const PAGE_MAX = 10_000

/** The page number, from 1 on; null: the text is not a page number. */
export function pageOf(text: string): number | null {
  const page = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : null
  return page !== null && page <= PAGE_MAX ? page : null
}

/** A command, repeated with a project or an attempt. `project`: a uuid, CI's id, or else its full name. */
export type Choice =
  | { kind: 'project'; command: string; project: string; branch: string | null; rest?: readonly string[] }
  | { kind: 'run'; command: string; ref: AttemptRef }

/** Null if it could not be read back: it is too long for a button (a cut name would be another name), or empty. */
export function choiceValue(choice: Choice): string | null {
  const value = JSON.stringify(fieldsOf(choice))
  return parseChoice(value) && value
}

function fieldsOf(choice: Choice): object {
  if (choice.kind === 'run') return { command: choice.command, run: attemptRefText(choice.ref) }
  const { kind: _, ...fields } = choice
  return fields
}

export function parseChoice(value: string): Choice | null {
  const read = CHOICE.safeParse(jsonOf(value))
  if (!read.success) return null
  if ('project' in read.data) return { kind: 'project', ...read.data }
  const ref = parseAttemptRef(read.data.run)
  return ref && { kind: 'run', command: read.data.command, ref }
}

/** The question of a list, for another page. Null if it could not be read back. */
export function pageValue({ text, type, page }: ListQuery): string | null {
  const value = JSON.stringify({ text, type, page })
  return parsePage(value) && value
}

export function parsePage(value: string): ListQuery | null {
  const read = PAGE.safeParse(jsonOf(value))
  return read.success ? read.data : null
}

/** The subscriptions of an import: `changes` of a project, on one branch or pattern, or (null) on all. */
export type Import = readonly { project: string; branch: string | null }[]

/** Null if it could not be read back. */
export function importValue(these: Import): string | null {
  const value = JSON.stringify(these.map(({ project, branch }) => [project, branch]))
  return parseImport(value) && value
}

export const parseImport = (value: string): Import | null =>
  IMPORT.safeParse(jsonOf(value)).data?.map(([project, branch]) => ({ project, branch })) ?? null

const command = z.string().regex(/^[a-z]{1,20}$/)
const name = z.string().min(1).max(VALUE_CHARS_MAX)

const CHOICE = z.union([
  z.strictObject({ command, project: name, branch: name.nullable(), rest: z.array(z.string()).exactOptional() }),
  z.strictObject({ command, run: z.string() }),
])

const IMPORT = z.array(z.tuple([name, name.nullable()])).min(1)

const PAGE = z.strictObject({
  text: name.nullable(),
  type: z.enum(['basic', 'pro']).nullable(),
  page: z.int().min(1).max(PAGE_MAX),
})

/** Undefined if it is not JSON, or longer than any value or metadata that we write with it. */
export function jsonOf(value: string): unknown {
  if (value.length > VALUE_CHARS_MAX) return undefined
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}
