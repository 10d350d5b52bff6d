import type { Events } from '../events.ts'
import type { Triggers } from '../triggers.ts'
import type { Views } from '../views.ts'
import type { Json } from '../json.ts'
import type { SocketDoor } from '../sockets/sockets.ts'
import type { Workspace } from '../workspace.ts'

export type Args = Readonly<Record<string, unknown>>

/** A call of a method, after token, rate limits and scopes were checked. */
export interface Call {
  args: Args
  workspace: Workspace
  triggers: Triggers
  views: Views
  sockets: SocketDoor
  events: Events
  scopes: ReadonlySet<string>
  /** called with the app-level token */
  isByApp: boolean
}

/** A method. It needs one of `scopes`, or none if the list is empty. `run` throws a Refusal for `ok: false`. */
export interface Method {
  scopes: readonly string[]
  /** the method needs the app-level token, or takes either; by default the bot's */
  token?: 'app' | 'any'
  run(call: Call): object
}

/** Slack's `ok: false`: the error code and further fields of the answer. */
export class Refusal extends Error {
  readonly code: string
  readonly extra: Json
  constructor(code: string, extra: Json = {}) {
    super(code)
    this.code = code
    this.extra = extra
  }
}

export function refuse(code: string, extra: Json = {}): never {
  throw new Refusal(code, extra)
}

/** An argument as text, from a form or a JSON body. Undefined if it is missing or empty. */
export function textArg(args: Args, name: string): string | undefined {
  const value = args[name]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'object') return refuse('invalid_arguments')
  // oxlint-disable-next-line typescript/no-base-to-string -- objects were refused above
  return String(value)
}

export const requiredArg = (args: Args, name: string, code = 'invalid_arguments'): string =>
  textArg(args, name) ?? (code === 'invalid_arguments' ? refuseMissing(name) : refuse(code))

export const refuseMissing = (name: string): never =>
  refuse('invalid_arguments', { response_metadata: { messages: [`[ERROR] missing required field: ${name}`] } })

const TRUE_WORDS = new Set(['true', '1'])

export const flagArg = (args: Args, name: string): boolean | undefined => {
  const text = textArg(args, name)
  return text === undefined ? undefined : TRUE_WORDS.has(text)
}

/** A whole number from 1, cut to `max`; `fallback` if it is missing. Refuses anything else with `code`. */
export function numberArg(args: Args, name: string, range: { fallback: number; max: number; code: string }): number {
  const text = textArg(args, name)
  if (text === undefined) return range.fallback
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) return refuse(range.code)
  return Math.min(value, range.max)
}

/** A structured argument; in a form it is JSON text. Refuses invalid JSON with `code`. */
export function jsonArg(args: Args, name: string, code: string): unknown {
  const value = args[name]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return refuse(code)
  }
}
