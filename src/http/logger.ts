import { causesOf, errorCode } from '../lib/error-code.ts'
import { forTerminal, writtenForms } from '../lib/escape.ts'
import { findJson, isRecord } from '../lib/json.ts'
import { fieldOf, isNullish, textOf } from '../lib/raw-values.ts'
import pino, { type DestinationStream, type Logger } from 'pino'
import { writeSync } from 'node:fs'

// Most lines hold no secret, and one search is cheaper than five.
const MAY_LOOK_SECRET = /xox|xapp-|=|bearer|:\/\/|\/webhooks\//i

/** A configured secret shorter than this is not searched for: it would hide parts of ordinary words. */
const SECRET_CHARS_MIN = 6

// Text that looks like a secret, anywhere in a line: redaction by path would miss messages, stacks and addresses.
const LOOKS_SECRET: readonly [RegExp, string][] = [
  [/xox[a-z]-[\w-]+|xapp-[\w-]+/gi, '[secret]'],
  [/((?:api_key|token|client_secret|access_token|password)=)[^&\s"']+/gi, '$1[secret]'],
  [/(bearer\s+)[\w.~+/=-]{8,}/gi, '$1[secret]'],
  [/(\/webhooks\/(?:[a-z]+\/reports|[a-z]+)\/)[^\s"'?/]+/gi, '$1[secret]'],
  [/(:\/\/[^/\s:@"']+:)[^@\s/"']+@/g, '$1[secret]@'],
]

/** The log: one JSON object a line, without configured secrets and anything that looks like one. */
export function createLogger(level: string, secrets: readonly string[], destination: DestinationStream): Logger {
  const forms = secretForms(secrets)
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: plainError(DETAILED.has(level)) },
    hooks: { streamWrite: (line: string) => forTerminal(scrub(line, forms)) },
  }
  return pino(options, destination)
}

/** Levels at which every error is logged with its stack. */
const DETAILED: ReadonlySet<string> = new Set(['debug', 'trace'])

/**
 * An error without the objects that libraries attach to it, such as a database client, or a request with its headers.
 * The stack of an error from elsewhere says nothing, and is left out.
 */
const plainError = (isDetailed: boolean) => (error: unknown) =>
  plain(error, isDetailed || !causesOf(error).some(isOfOthers))

function plain(error: unknown, withStack: boolean): unknown {
  if (!(error instanceof Error)) return String(error)
  const { name: type, message, stack, cause } = error
  const code = errorCode(error)
  return {
    type,
    message,
    ...(code === null ? {} : { code }),
    ...(withStack ? { stack } : {}),
    ...(cause === undefined ? {} : { cause: plain(cause, withStack) }),
  }
}

/** Errors of the network, and what CI, GitHub or GitLab answer. */
function isOfOthers(error: unknown): boolean {
  const code = errorCode(error) ?? ''
  return NETWORK.has(code) || code.startsWith('CI_')
}

const NETWORK: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
])

/** Every form in which the configured secrets may appear in a line. */
export const secretForms = (secrets: readonly string[]): string[] =>
  secrets.filter((secret) => secret.length >= SECRET_CHARS_MIN).flatMap(writtenForms)

export function withoutForms(line: string, forms: readonly string[]): string {
  let clean = line
  for (const form of forms) if (clean.includes(form)) clean = clean.replaceAll(form, '[secret]')
  return clean
}

function scrub(line: string, forms: readonly string[]): string {
  let clean = withoutForms(line, forms)
  if (!MAY_LOOK_SECRET.test(clean)) return clean
  for (const [pattern, instead] of LOOKS_SECRET) clean = clean.replace(pattern, instead)
  return clean
}

const STDOUT = 1

/** If the log's reader falls behind, a write waits this long. Then lines are dropped until it takes one again. */
const PATIENCE_MS_MAX = 1_000
const AGAIN_AFTER_MS = 10

/** A line of the log for people: `22:26:41 warn  Slack cannot be reached part=slack`; below it what went wrong. */
export function readableLine(line: string): string {
  const { level, time, msg, err, ...fields } = parsedLine(line)
  const said = [textOf(time)?.slice(11, 19), LEVELS[Number(level)], textOf(msg)?.replaceAll('\n', ' ')]
  const named = Object.entries(fields).map(
    ([name, value]) => `${name}=${isPlain(value) ? value : JSON.stringify(value)}`,
  )
  const why = isNullish(err)
    ? []
    : [`  ${textOf(fieldOf(err, 'stack')) ?? textOf(fieldOf(err, 'message')) ?? JSON.stringify(err)}`]
  // Once more: what JSON had escaped is not escaped any more.
  const shown = [...said, ...named].filter((part) => !isNullish(part)).join(' ')
  return `${forTerminal([shown, ...why].join('\n'))}\n`
}

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info ',
  40: 'warn ',
  50: 'error',
  60: 'fatal',
}

/** The removal of a secret may have cut into the JSON: then the line is shown as it is. */
function parsedLine(line: string): Record<string, unknown> {
  const parsed = findJson(line)
  return isRecord(parsed) ? parsed : { msg: line.trimEnd() }
}

const isPlain = (value: unknown): value is string => typeof value === 'string' && /^[\w./:@#-]+$/.test(value)

/**
 * Writes the log to stdout, a line at a time, before `write` returns: on a terminal as text for people, elsewhere as JSON.
 * If the reader is gone or has stopped reading, the process is not blocked: it can still stop, and answer requests.
 */
export function standardOutput(write: (line: Uint8Array) => number = openStdout(), isTerminal = process.stdout.isTTY) {
  let isRead = true
  let isBehind = false

  /** False if a part of the line could not be written and was dropped. */
  function writeWhole(line: Uint8Array): boolean {
    let left = line
    for (let waitedMs = 0; left.length > 0;) {
      try {
        left = left.subarray(write(left))
      } catch (error) {
        if (errorCode(error) !== 'EAGAIN') throw error
        if (isBehind || waitedMs >= PATIENCE_MS_MAX) return false
        waitedMs += AGAIN_AFTER_MS
        pause(AGAIN_AFTER_MS)
      }
    }
    return true
  }

  return {
    write(line: string): void {
      if (!isRead) return
      try {
        isBehind = !writeWhole(Buffer.from(isTerminal ? readableLine(line) : line))
      } catch {
        // There is nowhere to log this.
        isRead = false
      }
    },
  }
}

/** Once `process.stdout` was accessed, a full pipe fails with EAGAIN. Before that, a write could block forever. */
function openStdout(): (line: Uint8Array) => number {
  const { writable } = process.stdout
  return (line) => (writable ? writeSync(STDOUT, line) : line.length)
}

const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
