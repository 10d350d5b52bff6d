import { isRecord } from '../../../src/lib/json.ts'
import { DESCRIPTION_ID, readDescription, type Edition } from './description.ts'
import { createValidator, parsed } from './validator.ts'

export interface Request {
  method: string
  /** still URL-encoded, without the query */
  path: string
  query: URLSearchParams
  body: string
}

/** A request to GitHub with its answer. */
export interface Exchange extends Request {
  status: number
  /** the answer's body */
  answer: string
}

/** Says what is not as GitHub describes it: one line for each fault. */
export interface Judge {
  ofRequest(request: Request): string[]
  /** none if the request is not described */
  ofAnswer(exchange: Exchange): string[]
  /** of a value, by the schema with this name; null if there is none */
  byName(schema: string, value: unknown): string[] | null
}

type Json = Record<string, unknown>

const judges = new Map<Edition, Judge>()

/** Judges by what GitHub publishes about itself. */
export function judgeBy(edition: Edition = 'api.github.com'): Judge {
  const judge = judges.get(edition) ?? createJudge(edition)
  judges.set(edition, judge)
  return judge
}

function createJudge(edition: Edition): Judge {
  const description = readDescription(edition)
  const schemas = description.components['schemas'] as Record<string, Json>
  const faultsIn = createValidator(DESCRIPTION_ID, description)
  const faultsInText = createValidator(DESCRIPTION_ID, description, true)
  const parameterSchemas = new WeakMap<Json, Record<Place, Json>>()
  const templates = Object.entries(description.paths)
    .map(([template, methods]) => {
      const parameters = Object.values(methods).flatMap(parametersOf)
      return { pattern: patternOf(template, parameters), literal: literalLength(template), methods }
    })
    // `{run_id}` also matches a word that has a path of its own.
    .toSorted((a, b) => b.literal - a.literal)

  function find({ method, path }: Request) {
    // GitHub redirects the calls for a renamed repository to its address by id, and for a renamed branch to one of these.
    const named = path.replace(/^\/repositories\/(?:\d+|[^/]+\/[^/]+(?=\/branches\/))(?=\/|$)/, '/repos/owner/name')
    const found = templates.find(({ pattern, methods }) => method.toLowerCase() in methods && pattern.test(named))
    if (!found) return null
    return { operation: found.methods[method.toLowerCase()]!, values: { ...found.pattern.exec(named)!.groups } }
  }

  /** What a reference in the description stands for. */
  function referred(value: unknown): Json {
    const [, , kind, name] = isRecord(value) && typeof value['$ref'] === 'string' ? value['$ref'].split('/') : []
    if (kind === undefined || name === undefined) return isRecord(value) ? value : {}
    return (description.components[kind] as Record<string, Json>)[name]!
  }

  function parametersOf(operation: Json): Json[] {
    return ((operation['parameters'] ?? []) as unknown[]).map(referred)
  }

  function faultsOfParameters(operation: Json, place: Place, values: object): string[] {
    const made = parameterSchemas.get(operation) ?? schemasOf(parametersOf(operation))
    parameterSchemas.set(operation, made)
    return faultsInText(made[place], values).map((fault) => `${place}${fault}`)
  }

  function faultsOfBody(operation: Json, body: string): string[] {
    const described = referred(operation['requestBody'])
    // An empty object may be sent where no body is described: clients of others do.
    if ((body === '' || body === '{}') && described['required'] !== true) return []
    const schema = schemaIn(described)
    return (schema ? faultsIn(schema, parsed(body)) : [' is not described']).map((fault) => `body${fault}`)
  }

  function faultsOfAnswer(operation: Json, { method, status, answer }: Exchange): string[] {
    const described = (operation['responses'] as Json | undefined)?.[String(status)]
    if (described === undefined) {
      if (status === 304 && method === 'GET') return []
      return COMMON.test(String(status)) ? faultsIn(schemas['basic-error']!, parsed(answer)) : [' is not described']
    }
    const schema = schemaIn(referred(described))
    if (schema) return faultsIn(schema, parsed(answer))
    return answer === '' ? [] : [' has no body by the description']
  }

  return {
    ofRequest(request) {
      const found = find(request)
      if (!found) return [`${request.method} ${request.path} is not described`]
      return [
        ...faultsOfParameters(found.operation, 'path', found.values),
        ...faultsOfParameters(found.operation, 'query', Object.fromEntries(request.query)),
        ...faultsOfBody(found.operation, request.body),
      ].map((fault) => `${request.method} ${request.path}: ${fault}`)
    },
    ofAnswer(exchange) {
      const faults = faultsOfAnswer(find(exchange)?.operation ?? NOTHING_DESCRIBED, exchange)
      return faults.map((fault) => `${exchange.method} ${exchange.path}: ${exchange.status}${fault}`)
    },
    byName: (schema, value) => (schemas[schema] ? faultsIn(schemas[schema], value) : null),
  }
}

type Place = 'path' | 'query'

/** Only errors are answers to a request that does not exist. */
const NOTHING_DESCRIBED: Json = {}

/** Answers that any call may get, and that are described only for some. Source: GitHub REST API, "Troubleshooting". */
const COMMON = /^(?:30[127]|401|403|404|422|429|5\d\d)$/

/** Some parameters, such as a branch, may have slashes. */
function patternOf(template: string, parameters: readonly Json[]): RegExp {
  const isLong = (name: string) => parameters.some((one) => one['name'] === name && one['x-multi-segment'] === true)
  const source = template
    .replaceAll('.', String.raw`\.`)
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => `(?<${name}>${isLong(name) ? '.+' : '[^/]+'})`)
  return new RegExp(`^${source}$`)
}

const literalLength = (template: string): number => template.replaceAll(/\{\w+\}/g, '').length

const schemasOf = (parameters: readonly Json[]): Record<Place, Json> => ({
  path: schemaOf(parameters.filter((one) => one['in'] === 'path')),
  query: schemaOf(parameters.filter((one) => one['in'] === 'query')),
})

const schemaOf = (parameters: readonly Json[]): Json => ({
  type: 'object',
  properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
  required: parameters.flatMap(({ name, required }) => (required === true ? [name] : [])),
  additionalProperties: false,
})

const schemaIn = (described: Json): Json | undefined =>
  (described['content'] as Record<string, { schema: Json }> | undefined)?.['application/json']?.schema
