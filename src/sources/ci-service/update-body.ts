import { isIdDigits } from '../../domain/ids.ts'
import { ANSWER_ONLY, BASIC_ONLY } from '../../domain/project-fields.ts'
import { isRecord, numberOf, numbersAsWritten } from '../../lib/json.ts'
import { nestedNameOf, updateNameOf, LIST_ITEMS_MAX, LINE_CHARS_MAX } from './check-rule.ts'
import * as z from 'zod'

type Fields = Record<string, unknown>

/**
 * The body of an update that makes a project equal to `project`, which has the form of CI's answer. It has all fields,
 * in the request's names: unknown ones unchanged, numbers beyond 2^53 exact, null as null; it adds none. Only fields
 * that CI alone sets, and those that the project's type may not have, are left out. Source: interface, E4.
 */
export function updateBody(project: Fields): Fields {
  const fields = Object.entries(asFields(numbersAsWritten(project))).filter(([name]) => !ANSWER_ONLY.has(name))
  const body = Object.fromEntries(fields.map(([name, value]) => [name, requestValue(name, value)]))
  return isOtherThanBasic(body['type']) ? without(body, BASIC_ONLY) : body
}

/** A rule with its `target` under the name that the request uses. Both names are read. */
export function withTargetNamed(name: 'target' | 'email_target', rule: Fields): Fields {
  if (!('target' in rule) && !('email_target' in rule)) return rule
  const { target, email_target: emailTarget, ...rest } = rule
  return { ...rest, [name]: target ?? emailTarget ?? null }
}

export const without = (fields: Fields, names: ReadonlySet<string>): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)))

const asFields = (value: unknown): Fields => (isRecord(value) ? value : {})

// A project without a type keeps all fields.
const isOtherThanBasic = (type: unknown): boolean =>
  typeof type === 'string' && type.trim() !== '' && type.trim().toLowerCase() !== 'basic'

function requestValue(name: string, value: unknown): unknown {
  if (!Array.isArray(value)) return value
  if (name === 'notification_rules') return value.map(ruleInRequest)
  return name === 'team_ids' ? value.map(teamInRequest) : value
}

const teamInRequest = (id: unknown): unknown => (typeof id === 'string' && isIdDigits(id) ? numberOf(id) : id)

function ruleInRequest(rule: unknown): unknown {
  if (!isRecord(rule)) return rule
  const named = withTargetNamed('email_target', rule)
  const nestedName = nestedNameOf(named['notifier'])
  const { options } = named
  return nestedName === null || !isRecord(options) ? named : { ...named, options: nested(nestedName, options) }
}

// The options in CI's answers belong to the notifier, even one that it does not need, such as `room` for slack.
const ANSWERED_OPTIONS: ReadonlySet<string> = new Set(['key', 'url', 'room', 'domain'])

function nested(notifier: string, options: Fields): Fields {
  const own = Object.entries(options).filter(([name]) => ANSWERED_OPTIONS.has(name))
  const already = options[notifier] ?? {}
  if (own.length === 0 || !isRecord(already)) return options
  // If there is a `domain`, `url` is something else.
  const isDomainThere = 'domain' in options || 'domain' in already
  const renamed = own.map(([name, value]) => [isDomainThere ? name : updateNameOf(notifier, name), value] as const)
  // CI answers with flat options, so changes are made there: they replace nested ones.
  return { ...without(options, ANSWERED_OPTIONS), [notifier]: { ...already, ...Object.fromEntries(renamed) } }
}

// Schemas for the values of a request, each with its limit, and messages that quote no value.

/** The longest command or value that is sent, in characters. */
export const TEXT_CHARS_MAX = 10_000

const must = (reason: string) => ({
  error: ({ input }: { input?: unknown }) => (input === undefined ? 'is required' : reason),
})

const textUpTo = (charsMax: number) =>
  z.string(must('must be text')).max(charsMax, `has more than ${charsMax} characters`)

/** A command or a value, which may be empty. */
export const text = textUpTo(TEXT_CHARS_MAX)

/** A text of one line, which may be empty. */
export const line = textUpTo(LINE_CHARS_MAX)

/** A name: a line that is not blank. */
export const named = line.refine((name) => name.trim() !== '', 'is empty')

export const flag = z.boolean(must('must be true or false'))

export const number = z.number(must('must be a number'))

export const oneOf = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, must(`must be one of ${words.join(', ')}`))

export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.array(item, must('must be a list')).max(LIST_ITEMS_MAX, `has more than ${LIST_ITEMS_MAX} entries`)

export const objectOf = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape, must('must be an object'))
