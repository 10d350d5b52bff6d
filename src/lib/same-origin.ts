import type { IncomingMessage } from 'node:http'

/** Scripts send no Origin; a browser does, and only a page of the server's own may change things there. */
export const isOwnPage = ({ headers }: IncomingMessage): boolean =>
  headers.origin === undefined || headers.origin === `http://${headers.host}`
