import { isIdDigits } from '../../domain/ids.ts'
import { ANSWER_ONLY, BASIC_ONLY } from '../../domain/project-fields.ts'
import { isRecord, numberOf, numbersAsWritten } from '../../lib/json.ts'
import { nestedNameOf, updateNameOf } from './check-rule.ts'

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
