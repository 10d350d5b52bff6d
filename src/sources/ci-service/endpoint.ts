import * as z from 'zod'
import { type Endpoint, bodyText, readJsonBody, refusal, type BodyReading } from '../endpoint.ts'
import { secretPath, type IsSecret } from '../secret-path.ts'
import { isRecord } from '../../lib/json.ts'
import { ciBuildId, cleanText, projectId, SOURCE_TEXT_CHARS_MAX, timeMsOrNull, uuidOrNull } from '../values.ts'
import { NO_DETAILS, commitTitle, type ReceivedEvent } from '../../domain/builds/build-event.ts'
import { isUuid, toUuid, type Uuid } from '../../domain/ids.ts'

/** Where the CI service delivers. */
export const createCiServiceEndpoint = (isSecret: IsSecret): Endpoint => ({
  what: 'delivery',
  ...secretPath('builds', isSecret),
  bodyBytesMax: DELIVERY_BYTES_MAX,
  read: readPayload,
})

/** The largest delivery that is read. */
export const DELIVERY_BYTES_MAX = 256 * 1024

type CiReading = Extract<BodyReading, { kind: 'delivery' | 'refusal' }>

/**
 * Reads a delivery's body: `{"build":{…}}` with usable `project_id`, `build_id` and `status`. Everything else may be
 * missing, null or unknown. Source: interface, "Webhook delivery".
 */
export function readPayload(body: Uint8Array): CiReading {
  const read = readJsonBody(body)
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

function toReceivedEvent(required: z.infer<typeof PAYLOAD>, build: Readonly<Record<string, unknown>>): ReceivedEvent {
  const buildUrl = textOf(build['build_url'])
  return {
    projectId: required.project_id,
    buildId: required.build_id,
    branch: textOf(build['branch']),
    commitId: textOf(build['commit_id']),
    rawStatus: required.status,
    details: {
      ...NO_DETAILS,
      projectName: textOf(build['project_name']),
      projectFullName: textOf(build['project_full_name']),
      buildUrl,
      commitUrl: textOf(build['commit_url']),
      shortCommitId: textOf(build['short_commit_id']),
      message: commitTitle(textOf(build['message'])),
      committer: textOf(build['committer']),
      projectUuid: uuidOf(build['project_uuid']),
      buildUuid: isUuid(required.build_id)
        ? toUuid(required.build_id)
        : (uuidOf(build['build_uuid']) ?? uuidIn(buildUrl)),
      startedAt: timeMsOf(build['started_at']),
      finishedAt: timeMsOf(build['finished_at']),
    },
  }
}

// A build's address may carry its uuid, as the last one in the path; a project's uuid may come before it.
function uuidIn(url: string | null): Uuid | null {
  const found = url?.match(/builds\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/i)?.[1]
  return found ? toUuid(found) : null
}
