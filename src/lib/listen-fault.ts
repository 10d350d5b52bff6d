import { errorCode } from './error-code.ts'

/** Why a server could not open this port, in words; null for what is no matter of the port. */
export function listenFault(error: unknown, port: number): string | null {
  const code = errorCode(error)
  if (code === 'EADDRINUSE') return `port ${port} is taken by another program`
  return code === 'EACCES' ? `this user may not open port ${port}` : null
}
