import * as z from 'zod'
import { isIdDigits, isUuid, toUuid, uuidBuildId } from '../domain/ids.ts'
import type { BuildId, ProjectId } from '../domain/ids.ts'
import { fieldOf, textOf } from '../lib/raw-values.ts'

// Reads single values from sources liberally: an unclear value becomes null, never an error.

// Ids come as integers or strings of digits, and become strings of digits.
// A number that is not a safe integer has already lost digits.
const digitsOf = (value: unknown): unknown => (Number.isSafeInteger(value) ? String(value) : value)
const anId = (value: unknown): boolean => typeof value === 'string' && isIdDigits(value)

/** Any id. */
export const idDigits = z.preprocess(digitsOf, z.custom<string>(anId))

export const projectId = z.preprocess(digitsOf, z.custom<ProjectId>(anId))

export const buildId = z.preprocess(digitsOf, z.custom<BuildId>(anId))

export const uuid = z.string().trim().refine(isUuid).transform(toUuid)

/** A build id of the CI service: an integer, or a UUID. */
export const ciBuildId = z.union([buildId, uuid.transform(uuidBuildId)])

export const uuidOrNull = uuid.nullable().catch(null)

/** A text that is not blank. Numbers become their digits. */
export const textOrNull = z
  .union([z.string(), z.number().transform(String)])
  .transform((text) => (text.trim() === '' ? null : text))
  .catch(null)

/** Names, branches, addresses and messages are cut to this many characters: all events of a build are read together. */
export const SOURCE_TEXT_CHARS_MAX = 500

/** Characters kept of a test's name, of the message of a failure, and of a line of a log. */
export const REPORT_TEXT_CHARS_MAX = 300

/** Text without NUL and half surrogate pairs, which databases and Slack cannot handle; null if nothing is left. */
export function cleanText(value: string): string | null {
  const short = value.length > SOURCE_TEXT_CHARS_MAX ? value.slice(0, SOURCE_TEXT_CHARS_MAX) : value
  return short.toWellFormed().replaceAll('\0', '').trim() || null
}

export const cleanTextOrNull = z.string().transform(cleanText).nullable().catch(null)

/** The text of a file, as GitHub and GitLab show it; null: it has another form, or is a folder. */
export const fileText = (json: unknown): string | null =>
  fieldOf(json, 'encoding') === 'base64'
    ? Buffer.from(textOf(fieldOf(json, 'content')) ?? '', 'base64').toString()
    : null

/** A count: an integer or a string of digits. */
export const countOrNull = z.coerce.string().refine(isIdDigits).transform(Number).nullable().catch(null)

/** ISO 8601, or `YYYY-MM-DD HH:MM:SS UTC`; without a zone UTC. In milliseconds since the epoch. */
export const timeMsOrNull = z
  .string()
  .transform((text) => parseTimeMs(text.trim()))
  .catch(null)

const TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*(?:(Z|UTC|GMT)|([+-]\d{2}):?(\d{2}))?$/i

function parseTimeMs(text: string): number | null {
  const [, date, time, , offsetHours, offsetMinutes] = TIME.exec(text) ?? []
  if (date === undefined || time === undefined) return null
  const zone = offsetHours === undefined ? 'Z' : `${offsetHours}:${offsetMinutes}`
  const timeMs = Date.parse(`${date}T${time}${zone}`)
  return Number.isNaN(timeMs) ? null : timeMs
}
