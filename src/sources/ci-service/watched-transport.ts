import { CiError, type CiErrorKind } from './errors.ts'
import type { Transport } from './transport.ts'

/** Tells how each question to CI ended; what is to change something says nothing of the way itself. */
export const watchedTransport = (transport: Transport, note: (trouble: CiErrorKind | null) => void): Transport => ({
  ...transport,
  async send(request, signal) {
    try {
      const answer = await transport.send(request, signal)
      if (request.method === 'GET') note(null)
      return answer
    } catch (error) {
      if (request.method === 'GET' && error instanceof CiError) note(error.kind)
      throw error
    }
  },
})
