import { errorCode } from '../lib/error-code.ts'
import { forTerminal } from '../lib/escape.ts'
import pino, { type DestinationStream, type Logger } from 'pino'

// Most lines hold nothing of the kind, and one look is cheaper than five.
const MAY_LOOK_SECRET = /xox|xapp-|=|bearer|:\/\/|\/webhooks\//i

/** A configured secret shorter than this is not searched for: it would black out ordinary words. */
const SECRET_CHARS_MIN = 6

// What looks like a secret wherever it stands: redaction by path never sees messages, stacks and addresses.
const LOOKS_SECRET: readonly [RegExp, string][] = [
  [/xox[a-z]-[\w-]+|xapp-[\w-]+/gi, '[secret]'],
  [/((?:api_key|token|client_secret|access_token|password)=)[^&\s"']+/gi, '$1[secret]'],
  [/(bearer\s+)[\w.~+/=-]{8,}/gi, '$1[secret]'],
  [/(\/webhooks\/builds\/)[^\s"'?/]+/gi, '$1[secret]'],
  [/(:\/\/[^/\s:@"']+:)[^@\s/"']+@/g, '$1[secret]@'],
]

/** The log: one JSON object a line, scrubbed of every configured secret and of whatever looks like one. */
export function createLogger(level: string, secrets: () => readonly string[], destination: DestinationStream): Logger {
  let of: readonly string[] = []
  let known: readonly string[] = []
  // They may become more while the bot runs.
  const knownNow = (): readonly string[] => {
    const now = secrets()
    if (now !== of) known = secretForms(now)
    of = now
    return known
  }
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: plainError(DETAILED.has(level)) },
    hooks: { streamWrite: (line: string) => forTerminal(scrub(line, knownNow())) },
  }
  return pino(options, destination)
}

/** Where stacks are wanted whatever the fault. */
const DETAILED: ReadonlySet<string> = new Set(['debug', 'trace'])

/**
 * An error without what libraries hang on it: a database client, a request with its headers. Where it came from says
 * nothing of an ordinary network fault.
 */
const plainError = (isDetailed: boolean) => (error: unknown) =>
  plain(error, isDetailed || !causesOf(error).some(isNetworkFault))

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

const CAUSES_MAX = 8

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = []
  for (let cause = error; cause instanceof Error && causes.length < CAUSES_MAX; cause = cause.cause) causes.push(cause)
  return causes
}

const isNetworkFault = (error: unknown): boolean => NETWORK.has(errorCode(error) ?? '')

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

/** Each way in which configured secrets may stand in a line. */
export const secretForms = (secrets: readonly string[]): string[] =>
  secrets.filter((secret) => secret.length >= SECRET_CHARS_MIN).flatMap(written)

// As typed, as JSON writes it, and as an address does.
const written = (secret: string): string[] => [
  ...new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]),
]

export function withoutForms(line: string, forms: readonly string[]): string {
  let clean = line
  for (const form of forms) if (clean.includes(form)) clean = clean.replaceAll(form, '[secret]')
  return clean
}

export function scrub(line: string, known: readonly string[]): string {
  let clean = withoutForms(line, known)
  if (!MAY_LOOK_SECRET.test(clean)) return clean
  for (const [pattern, instead] of LOOKS_SECRET) clean = clean.replace(pattern, instead)
  return clean
}
