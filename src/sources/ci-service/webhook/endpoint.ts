import { parse } from 'node:querystring'
import * as z from 'zod'
import { percentDecoded } from '../../../lib/escape.ts'
import type { Target } from '../../../http/http-server.ts'
import { type Endpoint, bodyText, readJsonBody, refusal, type BodyReading } from '../../endpoint.ts'
import { readReport } from './report.ts'
import { isRecord } from '../../../lib/json.ts'
import { fields, values } from '../../../lib/json-parts.ts'
import { ciBuildId, cleanText, projectId, SOURCE_TEXT_CHARS_MAX, timeMsOrNull, uuidOrNull } from '../../values.ts'
import { NO_DETAILS, commitTitle, type ReceivedEvent } from '../../../domain/builds/build-event.ts'
import { isUuid, toUuid, type Uuid } from '../../../domain/ids.ts'

/** Whether this is one of the valid secrets. */
type IsSecret = (presented: string | null) => boolean

/** Where the CI service delivers. */
export const createCiServiceEndpoint = (isSecret: IsSecret): Endpoint => ({
  what: 'delivery',
  ...secretPath('builds', isSecret),
  bodyBytesMax: DELIVERY_BYTES_MAX,
  read: readPayload,
})

/** Where build steps send test reports. */
export const createReportEndpoint = (isSecret: IsSecret): Endpoint => ({
  what: 'report',
  ...secretPath('reports', isSecret),
  bodyBytesMax: REPORT_BYTES_MAX,
  read: readReport,
})

/** A path that needs a secret; without one it answers 404, which does not reveal that it exists. */
function secretPath(
  at: keyof typeof IN_PATH,
  isSecret: IsSecret,
): Pick<Endpoint, 'matches' | 'unauthorizedStatus' | 'senderOf'> {
  const path = new RegExp(`^/webhooks/${at}(?:/[^/]*)?/?$`)
  return {
    matches: (pathname) => path.test(pathname),
    unauthorizedStatus: 404,
    senderOf: ({ headers }, target) =>
      isSecret(presentedSecret(at, target, headers.authorization)) ? 'proven' : 'stranger',
  }
}

/** The largest delivery that is read. */
export const DELIVERY_BYTES_MAX = 256 * 1024

/** The largest report that is read. */
const REPORT_BYTES_MAX = 64 * 1024

/** How many keys of a query are searched for the secret. */
const QUERY_KEYS_MAX = 20

/** The secret as it was sent: in the path, as HTTP Basic password, or as `?token=`. */
export function presentedSecret(
  at: keyof typeof IN_PATH,
  { pathname, search }: Target,
  authorization: string | undefined,
): string | null {
  const segment = IN_PATH[at].exec(pathname)?.[1]
  return segment === undefined ? (basicPassword(authorization) ?? tokenIn(search)) : percentDecoded(segment)
}

// A proxy may have put something before the path.
const IN_PATH = {
  builds: /\/webhooks\/builds\/([^/]+)\/?$/,
  reports: /\/webhooks\/reports\/([^/]+)\/?$/,
} as const

function basicPassword(authorization: string | undefined): string | null {
  const encoded = /^basic +([a-z0-9+/=]+)$/i.exec(authorization ?? '')?.[1]
  if (!encoded) return null
  const bytes = Buffer.from(encoded, 'base64')
  // The decoder drops invalid characters. A sender may leave out only the padding.
  const whole = bytes.toString('base64')
  if (encoded !== whole && encoded !== whole.replace(/={1,2}$/, '')) return null
  const decoded = bytes.toString('utf8')
  const colon = decoded.indexOf(':')
  return colon < 0 ? null : decoded.slice(colon + 1)
}

// Not URLSearchParams: it takes ten milliseconds for the thousands of keys that fit into an address.
function tokenIn(search: string): string | null {
  const { token = null } = parse(search.slice(1), '&', '=', { maxKeys: QUERY_KEYS_MAX })
  return Array.isArray(token) ? (token[0] ?? null) : token
}

type CiReading = Extract<BodyReading, { kind: 'delivery' | 'refusal' }>

/**
 * Reads a delivery's body: `{"build":{…}}` with usable `project_id`, `build_id` and `status`. Everything else may be
 * missing, null or unknown. Source: interface, "Webhook delivery".
 */
export function readPayload(body: Uint8Array): CiReading {
  const read = readJsonBody(body, DELIVERED)
  if (read.kind === 'refusal') return read
  const { build } = isRecord(read.value) ? read.value : {}
  if (!isRecord(build)) return refusal('the body has no object "build"')
  const parsed = PAYLOAD.safeParse(build)
  if (parsed.success) return { kind: 'delivery', event: toReceivedEvent(parsed.data, build), body: bodyText(body) }
  // Only these three can be at fault: any other field that is not understood counts as missing.
  const field = REQUIRED.find((name) => parsed.error.issues.some(({ path }) => path[0] === name)) ?? 'status'
  return refusal(`build.${field} ${EXPECTED[field]}`)
}

const REQUIRED = ['project_id', 'build_id', 'status'] as const

const EXPECTED = {
  project_id: 'is not an integer id',
  build_id: 'is neither an integer id nor a UUID',
  status: 'is not a status word',
} as const

/** The fields of a build that are read. */
const BUILD_FIELDS = [
  ...REQUIRED,
  'branch',
  'commit_id',
  'project_name',
  'project_full_name',
  'build_url',
  'commit_url',
  'short_commit_id',
  'message',
  'committer',
  'project_uuid',
  'build_uuid',
  'started_at',
  'finished_at',
] as const

const DELIVERED = fields({ build: values(BUILD_FIELDS) })

const PAYLOAD = z.object({
  project_id: projectId,
  build_id: ciBuildId,
  status: z.string().max(SOURCE_TEXT_CHARS_MAX).transform(cleanText).pipe(z.string()),
})

// By hand and not in the schema, for speed: these fields can never be at fault, and every delivery has them.
const textOf = (value: unknown): string | null =>
  typeof value === 'string' ? cleanText(value) : typeof value === 'number' ? String(value) : null
const uuidOf = (value: unknown): Uuid | null => (typeof value === 'string' ? uuidOrNull.parse(value) : null)
const timeMsOf = (value: unknown): number | null => (typeof value === 'string' ? timeMsOrNull.parse(value) : null)

type Build = Readonly<Partial<Record<(typeof BUILD_FIELDS)[number], unknown>>>

function toReceivedEvent(required: z.infer<typeof PAYLOAD>, build: Build): ReceivedEvent {
  const buildUrl = textOf(build.build_url)
  return {
    projectId: required.project_id,
    buildId: required.build_id,
    branch: textOf(build.branch),
    commitId: textOf(build.commit_id),
    rawStatus: required.status,
    details: {
      ...NO_DETAILS,
      projectName: textOf(build.project_name),
      projectFullName: textOf(build.project_full_name),
      buildUrl,
      commitUrl: textOf(build.commit_url),
      shortCommitId: textOf(build.short_commit_id),
      message: commitTitle(textOf(build.message)),
      committer: textOf(build.committer),
      projectUuid: uuidOf(build.project_uuid),
      buildUuid: isUuid(required.build_id) ? toUuid(required.build_id) : (uuidOf(build.build_uuid) ?? uuidIn(buildUrl)),
      startedAt: timeMsOf(build.started_at),
      finishedAt: timeMsOf(build.finished_at),
    },
  }
}

// A build's address may carry its uuid, as the last one in the path; a project's uuid may come before it.
function uuidIn(url: string | null): Uuid | null {
  const found = url?.match(/builds\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/i)?.[1]
  return found ? toUuid(found) : null
}
