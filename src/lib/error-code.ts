/** The `code` of an error from the system or a library, such as `ENOENT`; null if it has none. */
export const errorCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null

const CAUSES_MAX = 8

/** An error, its cause, the cause of that, and so on. */
export function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let cause = error; cause instanceof Error && causes.length < CAUSES_MAX; cause = cause.cause) causes.push(cause)
  return causes
}

/** Why a server's certificate is not accepted: who issued it, when it is valid, or for which names. */
export type CertificateFault = 'authority' | 'time' | 'name'

/** Null: the code is about something else. Source: Node, "X509 certificate error codes". */
export const certificateFault = (code: string | null | undefined): CertificateFault | null =>
  CERTIFICATE_FAULTS.get(code ?? '') ?? null

const CERTIFICATE_FAULTS = new Map<string, CertificateFault>([
  ['SELF_SIGNED_CERT_IN_CHAIN', 'authority'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'authority'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'authority'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'authority'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'authority'],
  ['CERT_SIGNATURE_FAILURE', 'authority'],
  ['CERT_UNTRUSTED', 'authority'],
  ['INVALID_CA', 'authority'],
  ['CERT_HAS_EXPIRED', 'time'],
  ['CERT_NOT_YET_VALID', 'time'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'name'],
  ['HOSTNAME_MISMATCH', 'name'],
])
