import type { buildConnector } from 'undici'

/** Connects as `connect` does, and remembers each error that came before a connection was open. */
export const rememberingFailures =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error === null || error === undefined) return callback(null, socket)
      unconnected.add(error)
      callback(error, null)
    })

/** Whether the connection, TLS included, was never open: not a byte of a request was sent. */
export const neverConnected = (error: unknown): boolean => error instanceof Error && unconnected.has(error)

// Their codes do not tell: ETIMEDOUT, ECONNRESET and EHOSTUNREACH also end connections that have carried a request.
const unconnected = new WeakSet<Error>()
