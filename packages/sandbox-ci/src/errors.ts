import { STATUS_CODES } from 'node:http'
import { assertNever } from '../../lib/assert.ts'
import { json } from '../../lib/http.ts'
import type { Reply } from '../../lib/http.ts'
import type { Switches } from './switches.ts'

/** An error response in the form of the switch `errorForm`. The interface does not document the form. */
export function refuse(switches: Switches, statusCode: number, reasons: string | readonly string[]): Reply {
  const lines = typeof reasons === 'string' ? [reasons] : [...reasons]
  switch (switches.errorForm) {
    case 'errors':
      return json(statusCode, { errors: lines })
    case 'error':
      return json(statusCode, { error: lines.join('; ') })
    case 'text':
      return { statusCode, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: lines.join('\n') }
    case 'html':
      return { statusCode, headers: { 'content-type': 'text/html; charset=utf-8' }, body: htmlError(statusCode) }
    case 'empty':
      return { statusCode }
    default:
      return assertNever(switches.errorForm)
  }
}

// Like the error page of a gateway in front of the service, which does not give the reason.
const htmlError = (statusCode: number) =>
  `<html><head><title>${statusCode}</title></head><body><h1>${statusCode} ${STATUS_CODES[statusCode] ?? ''}</h1></body></html>`
