import { clientCredentialsAuth, staticAuth, type Auth } from './sources/ci-service/auth.ts'
import { createBadgeClient } from './sources/ci-service/badge.ts'
import { createGithubBuilds, type GithubBuilds } from './sources/github/builds.ts'
import { createGithubClient, type GithubClient } from './sources/github/client.ts'
import type { Reads } from './store/store.ts'
import { isGithub } from './domain/ids.ts'
import { type ClientLegacy, createClientLegacy } from './sources/ci-service/client-legacy.ts'
import { createClientV2 } from './sources/ci-service/client-v2.ts'
import { CiError } from './sources/http/errors.ts'
import { type Transport, countedTransport, watchedTransport } from './sources/http/transport.ts'
import type { CiAuth, Config } from './config.ts'
import { systemClock } from './lib/clock.ts'
import type { CiInterface, Metrics } from './metrics.ts'
import type { ConnectionName, Connections } from './sources/ci-service/connections.ts'

/** The clients of CI that are configured. @param note hears how each question ended @param count each call too */
export function createClients(
  { v2, legacy, siteUrl }: Config['ci'],
  transport: Transport,
  warn: (what: string) => void,
  note: Connections['note'],
  count: Metrics['countCiCall'] = () => {},
) {
  const counted = (name: CiInterface) => countedTransport(transport, (end, ms) => count(name, end, ms))
  const watched = (name: ConnectionName) => watchedTransport(counted(name), (trouble) => note(name, trouble))
  const auth = v2 && warningAuth(createAuth(v2.auth, counted('sign-in')), warn)
  return {
    v2: v2 && auth && createClientV2({ ...v2, auth, transport: watched('v2') }),
    legacy: legacy && createClientLegacy({ ...legacy, transport: warningTransport(watched('legacy'), warn) }),
    badges: siteUrl === null ? null : createBadgeClient({ siteUrl, transport: watched('site') }),
  }
}

/** GitHub's client, and the repositories that it is asked for; null without a token. */
export function createGithub({ apiUrl, token, repositories }: Config['github'], transport: Transport) {
  return token === null ? null : { client: createGithubClient({ apiUrl, token, transport }), repositories }
}

/**
 * The client that shows builds and restarts them, which asks each project's own source. `legacy` null: there is no source.
 * @param reads know which repository a project is of
 */
export function buildsBySource(
  legacy: ClientLegacy | null,
  client: GithubClient | null,
  reads: Pick<Reads, 'project'>,
): { legacy: Pick<ClientLegacy, 'getProject' | 'restartBuild'> | null; github: GithubBuilds | null } {
  if (!client) return { legacy, github: null }
  const github = createGithubBuilds(client, reads)
  const unknown = new CiError({ kind: 'not-found', purpose: 'get a project', isUndone: true })
  return {
    github,
    legacy: {
      async getProject(id, options, signal) {
        if (isGithub(id)) return github.getProject(id, options, signal)
        if (!legacy) throw unknown
        return legacy.getProject(id, options, signal)
      },
      async restartBuild(id, signal) {
        if (!legacy) throw unknown
        return legacy.restartBuild(id, signal)
      },
    },
  }
}

/** Tells when CI refused the credentials and there are no others to try. */
const warningAuth = (auth: Auth, warn: (what: string) => void): Auth => ({
  ...auth,
  async renewed(refused) {
    const other = await auth.renewed(refused)
    if (other === null) warn(V2_REFUSED)
    return other
  },
})

const warningTransport = (transport: Transport, warn: (what: string) => void): Transport => ({
  ...transport,
  async send(request, signal) {
    try {
      return await transport.send(request, signal)
    } catch (error) {
      if (error instanceof CiError && error.kind === 'unauthorized') warn(LEGACY_REFUSED)
      throw error
    }
  },
})

/** Told to admins: only they can mend it. */
export const V2_REFUSED =
  'CI refuses the credentials of its v2 interface: no build can be stopped. Renew CI_AUTHORIZATION, or the OAuth2 client, and start Buildline again.'
export const LEGACY_REFUSED =
  'CI refuses the API key of its legacy interface: no build can be restarted. Renew CI_API_KEY, and start Buildline again.'

const createAuth = (auth: CiAuth, transport: Transport): Auth =>
  auth.kind === 'static'
    ? staticAuth(auth.authorization)
    : clientCredentialsAuth({ ...auth, transport, clock: systemClock })
