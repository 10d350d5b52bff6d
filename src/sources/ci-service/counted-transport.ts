import { CiError, type CiErrorKind } from './errors.ts'
import type { Transport } from './transport.ts'

/** How a call to CI ended: `stopped` where whoever asked no longer wanted to know. */
export type CiCallEnd = 'ok' | 'stopped' | CiErrorKind

/** Tells how each call to CI ended and what it took (ms), with all its tries. */
export const countedTransport = (transport: Transport, count: (end: CiCallEnd, ms: number) => void): Transport => ({
  ...transport,
  async send(request, signal) {
    const beganAt = performance.now()
    const tell = (end: CiCallEnd) => count(end, performance.now() - beganAt)
    try {
      const answer = await transport.send(request, signal)
      tell('ok')
      return answer
    } catch (error) {
      tell(error instanceof CiError ? error.kind : 'stopped')
      throw error
    }
  },
})
