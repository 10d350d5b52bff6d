import type { Uuid } from '../../domain/ids.ts'
import { addressOf, parseHttpUrl } from './address.ts'
import { CiError } from './errors.ts'
import type { CiResponse } from './exchange.ts'
import type { Transport } from './transport.ts'

/** The largest picture that is read. */
export const BADGE_BYTES_MAX = 256 * 1024

export interface Badge {
  /** `image/svg+xml`: without parameters, in lower case */
  contentType: string
  bytes: Uint8Array
}

export interface BadgeClient {
  /** The badge's address, fit to be shown: without credentials. Without a branch, CI chooses. */
  urlOf(projectUuid: Uuid, branch: string | null): string
  /** The picture as CI draws it now: an image of at most `BADGE_BYTES_MAX`. Throws a CiError. */
  fetchBadge(projectUuid: Uuid, branch: string | null, signal?: AbortSignal): Promise<Badge>
}

/** The badges of the site, open to everybody. `siteUrl` may carry a path prefix, with or without a last slash. */
export function createBadgeClient({ siteUrl, transport }: { siteUrl: string; transport: Transport }): BadgeClient {
  const base = withoutCredentials(parseHttpUrl(siteUrl))
  const address = (projectUuid: Uuid, branch: string | null): URL =>
    addressOf(base, ['projects', projectUuid, 'status'], { branch: branch ?? undefined })
  return {
    urlOf: (projectUuid, branch) => address(projectUuid, branch).href,
    async fetchBadge(projectUuid, branch, signal) {
      const url = address(projectUuid, branch)
      const headers = { accept: 'image/*' }
      const responseBytesMax = BADGE_BYTES_MAX
      return readBadge(
        await transport.send({ method: 'GET', url, headers, purpose: PURPOSE, secrets: [], responseBytesMax }, signal),
      )
    },
  }
}

const PURPOSE = 'fetch a badge'

function withoutCredentials(url: URL): URL {
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  return bare
}

function readBadge({ status, contentType, bytes }: CiResponse): Badge {
  const [type = ''] = (contentType ?? '').toLowerCase().split(';', 1)
  if (!IMAGE.test(type.trim())) throw new CiError({ kind: 'shape', purpose: PURPOSE, status })
  return { contentType: type.trim(), bytes }
}

const IMAGE = /^image\/[\w.+-]+$/
