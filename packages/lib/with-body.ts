import type { z } from 'zod'
import { json } from './http.ts'
import type { Call, Reply } from './http.ts'
import { parseJson } from './json.ts'
import { faultReasons } from './reasons.ts'

/** Calls `handle` with the JSON body of a control request. Answers 400 if `schema` refuses it. No body means `{}`. */
export function withBody<Body>(call: Call, schema: z.ZodType<Body>, handle: (body: Body) => Reply): Reply {
  const parsed = parseJson(call.text === '' ? '{}' : call.text)
  if (parsed.kind === 'not-json') return invalid(['the body is not JSON'])
  const body = schema.safeParse(parsed.value)
  return body.success ? handle(body.data) : invalid(faultReasons(body.error, parsed.value))
}

/** All control interfaces answer errors in this form, unlike the services that the sandboxes imitate. */
export const invalid = (errors: string[]): Reply => json(400, { errors })
