import type { buildConnector } from 'undici'

/** Opens connections as `connect` does, and remembers of each failure that it came before there was one. */
export const rememberingFailures =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error === null || error === undefined) return callback(null, socket)
      unconnected.add(error)
      callback(error, null)
    })

/** The connection never stood, TLS included: not a byte of a request was sent. */
export const neverConnected = (error: unknown): boolean => error instanceof Error && unconnected.has(error)

// Their codes would not tell: ETIMEDOUT, ECONNRESET and EHOSTUNREACH also end connections that have carried a request.
const unconnected = new WeakSet<Error>()
