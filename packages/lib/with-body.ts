import type { z } from 'zod'
import { json } from './http.ts'
import type { Call, Reply } from './http.ts'
import { parseJson } from './json.ts'
import { faultReasons } from './reasons.ts'

/** Answers a call of a control interface whose JSON body has the form of `schema`; no body at all is `{}`. */
export function withBody<Body>(call: Call, schema: z.ZodType<Body>, handle: (body: Body) => Reply): Reply {
  const parsed = parseJson(call.text === '' ? '{}' : call.text)
  if (parsed.kind === 'not-json') return invalid(['the body is not JSON'])
  const body = schema.safeParse(parsed.value)
  return body.success ? handle(body.data) : invalid(faultReasons(body.error, parsed.value))
}

/** A control interface has one error form, whatever form the service's own errors have. */
export const invalid = (errors: string[]): Reply => json(400, { errors })
