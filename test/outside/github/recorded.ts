import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../../../src/lib/json.ts'

/** A request that somebody sent to GitHub, and its answer. */
export interface Recorded {
  /** the order in which they were sent, from 1 */
  n: number
  method: string
  path: string
  query: URLSearchParams
  body: string
  status: number
  headers: Record<string, string>
  answer: string
}

interface Mapping {
  request: { method: string; url: string; bodyPatterns?: readonly { equalToJson?: string }[] }
  response: { status: number; headers?: Record<string, string>; body?: string; bodyFileName?: string }
}

/** What was recorded of one story, in order. The files are WireMock's. */
export function readStory(folder: string, story: string): Recorded[] {
  const place = join(folder, story)
  const read = (path: string) => readFileSync(join(place, path), 'utf8')
  const recorded = readdirSync(join(place, 'mappings')).map((name) => {
    const { request, response } = JSON.parse(read(join('mappings', name))) as Mapping
    const url = new URL(request.url, 'https://api.github.com')
    const file = response.bodyFileName
    return {
      n: Number.parseInt(name, 10),
      method: request.method,
      path: url.pathname,
      query: url.searchParams,
      body: request.bodyPatterns?.[0]?.equalToJson ?? '',
      status: response.status,
      headers: response.headers ?? {},
      answer: file === undefined ? (response.body ?? '') : read(join('__files', file)),
    }
  })
  return recorded.toSorted((a, b) => a.n - b.n)
}

/** The fields of a state, of which the values count too. */
const STATE = new Set(['status', 'conclusion', 'event', 'head_branch', 'run_attempt', 'state'])

/** What `theirs` has that `ours` lacks, or has in another type. Of lists, the first entries are compared. */
export function differences(theirs: unknown, ours: unknown, path = ''): string[] {
  if (Array.isArray(theirs)) {
    if (theirs.length === 0) return []
    return Array.isArray(ours) && ours.length > 0 ? differences(theirs[0], ours[0], `${path}/*`) : [`${path} is empty`]
  }
  if (isRecord(theirs)) {
    if (!isRecord(ours)) return [`${path} is no object`]
    return Object.entries(theirs).flatMap(([name, value]) => {
      if (!(name in ours)) return [`${path}/${name} is missing`]
      const isOther = STATE.has(name) && value !== ours[name]
      return isOther ? [`${path}/${name} is ${String(ours[name])}`] : differences(value, ours[name], `${path}/${name}`)
    })
  }
  // Null says nothing about the type that a field has otherwise.
  const isOfType = theirs === null || ours === null || typeof theirs === typeof ours
  return isOfType ? [] : [`${path} is a ${typeof ours}`]
}
