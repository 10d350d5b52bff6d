import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isRecord } from '../../../src/lib/json.ts'

type Json = Record<string, unknown>

/** References in the schemas begin with it. */
export const DESCRIPTION_ID = 'github'

const PUBLISHED = {
  'api.github.com': import.meta.resolve('@octokit/openapi/generated/api.github.com.json'),
  /** the oldest GitHub Enterprise Server that is described */
  'ghes-3.17': import.meta.resolve('@octokit/openapi/generated/ghes-3.17.json'),
}

export type Edition = keyof typeof PUBLISHED

/** What is used of a description. Its schemas are JSON Schema, and allow no property that is not described. */
export interface Description {
  /** the paths with their methods; of those outside `USED` only the names */
  paths: Record<string, Record<string, Json>>
  components: Json
}

/** The paths whose operations are kept, with all schemas that they refer to. The whole has 13 MB. */
const USED =
  /^\/(?:user|meta|rate_limit|app\/installations\/{installation_id}\/access_tokens|repos\/{owner}\/{repo}(?:\/(?:installation|pulls(?:\/{pull_number})?|branches\/{branch}|contents\/{path}|git\/ref\/{ref}|(?:actions\/(?:runs|jobs|workflows)|hooks|environments|check-runs)(?:\/.*)?))?)$/
const USED_EVENTS = /^(?:ping|workflow-run-.*)$/

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/buildline/', import.meta.url))

/** GitHub's own description of its REST interface. The part that is used is cached beside the package. */
export function readDescription(edition: Edition): Description {
  const source = fileURLToPath(PUBLISHED[edition])
  const { version } = readJson(join(dirname(source), '../package.json'))
  const cached = join(CACHE, `${edition}-${String(version)}-${hash('sha256', readFileSync(import.meta.filename))}.json`)
  try {
    return readJson(cached) as unknown as Description
  } catch {
    const description = usedOf(readJson(source))
    mkdirSync(CACHE, { recursive: true })
    // Several processes may write at once.
    writeFileSync(`${cached}.${process.pid}`, JSON.stringify(description))
    renameSync(`${cached}.${process.pid}`, cached)
    return description
  }
}

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Json

function usedOf(whole: Json): Description {
  const components: Json = {}
  const keep = (ref: string) => {
    const [, , kind = '', name = ''] = ref.split('/')
    const named = (components[kind] ??= {}) as Json
    if (name in named) return
    named[name] = true
    named[name] = jsonSchemaOf(((whole['components'] as Json)[kind] as Json)[name], keep)
  }
  const paths = Object.entries(whole['paths'] as Json).map(([path, methods]) => {
    const shown = Object.entries(methods as Json).map(([method, operation]) => [
      method,
      USED.test(path) ? jsonSchemaOf(operation, keep) : {},
    ])
    return [path, Object.fromEntries(shown)] as const
  })
  for (const event of Object.keys((whole['x-webhooks'] ?? {}) as Json).filter((name) => USED_EVENTS.test(name)))
    keep(`#/components/schemas/webhook-${event}`)
  return { paths: Object.fromEntries(paths), components }
}

/** Rewrites the schemas of OpenAPI 3.0 in a value, and drops its prose. `keep` gets each reference. */
function jsonSchemaOf(value: unknown, keep: (ref: string) => void): unknown {
  if (Array.isArray(value)) return value.map((one) => jsonSchemaOf(one, keep))
  if (!isRecord(value)) return value
  const { $ref, nullable } = value
  if (typeof $ref === 'string') {
    keep($ref)
    return { $ref: `${DESCRIPTION_ID}${$ref}` }
  }
  const rewritten: Json = Object.fromEntries(
    Object.entries(value)
      .filter(([name, one]) => name !== 'nullable' && !isProse(name, one))
      // The parts of a `oneOf` overlap where a number may also be read as a text.
      .map(([name, one]) => [name === 'oneOf' ? 'anyOf' : name, jsonSchemaOf(one, keep)]),
  )
  if (isRecord(value['properties']) && !('additionalProperties' in value)) rewritten['additionalProperties'] = false
  return nullable === true ? orNull(rewritten) : rewritten
}

// A property may have these names too; then its value is a schema.
const isProse = (name: string, value: unknown): boolean =>
  (name.startsWith('x-') && name !== 'x-multi-segment') ||
  (['description', 'title', 'summary', 'operationId'].includes(name) && typeof value === 'string') ||
  (['example', 'examples', 'externalDocs', 'default'].includes(name) && !(isRecord(value) && 'type' in value))

function orNull(schema: Json): Json {
  const { type, enum: values } = schema
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  const allowed = Array.isArray(values) ? { enum: [...new Set([...(values as unknown[]), null])] } : {}
  return { ...schema, type: [type, 'null'], ...allowed }
}
