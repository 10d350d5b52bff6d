import { errorCode } from '../lib/error-code.ts'

/** Why a server could not listen, in words; null for an error that is not about its address. */
export function listenFault(error: unknown, port: number): string | null {
  const at = error instanceof Error && 'port' in error ? Number(error.port) : port
  const code = errorCode(error)
  if (code === 'EADDRINUSE') return `port ${at} is taken by another program`
  if (code === 'EACCES') return `this user may not open port ${at}`
  return code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' ? 'HOST is no address of this machine' : null
}
