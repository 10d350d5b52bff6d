import { clientCredentialsAuth, staticAuth, type Auth } from '../sources/ci-service/auth.ts'
import { createBadgeClient } from '../sources/ci-service/badge.ts'
import { createCiServiceSource } from '../sources/ci-service/source.ts'
import { appTokens } from '../sources/github/app.ts'
import { createGithubClient, type GithubClient } from '../sources/github/client.ts'
import { githubSite, type Sites } from '../sources/build-address.ts'
import { createGithubSource, polledGithub } from '../sources/github/source.ts'
import { createGitlabClient, type GitlabClient } from '../sources/gitlab/client.ts'
import { createGitlabSource, polledGitlab } from '../sources/gitlab/source.ts'
import type { PolledSource } from '../sources/poll.ts'
import type { Source, Sources } from '../sources/source.ts'
import type { Reads } from '../store/store.ts'
import { sourceOf, type SourceName } from '../domain/ids.ts'
import { createClientLegacy } from '../sources/ci-service/client-legacy.ts'
import { createClientV2 } from '../sources/ci-service/client-v2.ts'
import { observedTransport, type Transport } from '../sources/http/transport.ts'
import type { CiAuth, Config } from '../config/config.ts'
import { systemClock } from '../lib/clock.ts'
import type { Metrics } from './metrics.ts'

/** The configured clients of CI. @param count called for each call */
export function createClients(
  { v2, legacy, siteUrl }: Config['ci'],
  transport: Transport,
  warn: (what: string) => void = () => {},
  count: Metrics['countCiCall'] = () => {},
) {
  const watched = (name: 'v2' | 'legacy' | 'site', refused?: string) =>
    observedTransport(transport, (end, ms) => {
      count(name, end, ms)
      if (end === 'unauthorized' && refused !== undefined) warn(refused)
    })
  const signIn = observedTransport(transport, (end, ms) => count('sign-in', end, ms))
  const auth = v2 && warningAuth(createAuth(v2.auth, signIn), warn)
  return {
    v2: v2 && auth && createClientV2({ ...v2, auth, transport: watched('v2') }),
    legacy: legacy && createClientLegacy({ ...legacy, transport: watched('legacy', LEGACY_REFUSED) }),
    badges: siteUrl === null ? null : createBadgeClient({ siteUrl, transport: watched('site') }),
  }
}

/** The clients of GitHub and GitLab; null without a token. @param warn called if a token is refused */
export function createHostedClients(
  { github, gitlab }: Pick<Config, 'github' | 'gitlab'>,
  transport: Transport,
  warn: (what: string) => void = () => {},
  count: Metrics['countCiCall'] = () => {},
) {
  const watched = (name: 'github' | 'gitlab', refused: string) =>
    observedTransport(transport, (end, ms) => {
      count(name, end, ms)
      if (end === 'unauthorized') warn(refused)
    })
  const ofGithub = { apiUrl: github.apiUrl, transport: watched('github', GITHUB_REFUSED) }
  const githubToken = github.app ? appTokens(github.app, { ...ofGithub, clock: systemClock }) : github.token
  const ofGitlab = { url: gitlab.url, transport: watched('gitlab', GITLAB_REFUSED) }
  return {
    github: githubToken === null ? null : createGithubClient({ ...ofGithub, token: githubToken }),
    gitlab: gitlab.token === null ? null : createGitlabClient({ ...ofGitlab, token: gitlab.token }),
  }
}

/**
 * Finds the source of a project; null if it is not configured.
 * @param reads for what is stored of a project
 */
export function createSources(
  { github, gitlab, ...ci }: Parameters<typeof createCiServiceSource>[0] & HostedClients,
  reads: Pick<Reads, 'project'>,
): Sources {
  const all: Record<SourceName, Source | null> = {
    ci: createCiServiceSource(ci, reads),
    github: github && createGithubSource(github, reads),
    gitlab: gitlab && createGitlabSource(gitlab, reads),
  }
  return (projectId) => all[sourceOf(projectId)]
}

/** Where the pages of the configured sources are. */
export const sitesOf = ({ ci, github, gitlab }: Pick<Config, 'ci' | 'github' | 'gitlab'>): Sites => ({
  ci: ci.siteUrl === null ? null : new URL(ci.siteUrl),
  github: github.token || github.app || github.webhookSecrets.length > 0 ? githubSite(github.apiUrl) : null,
  gitlab: gitlab.token || gitlab.webhookSecrets.length > 0 ? new URL(gitlab.url) : null,
})

export const configuredOf = ({ v2, legacy, github, gitlab }: HostedClients & { v2: unknown; legacy: unknown }) => ({
  v2: v2 !== null,
  legacy: legacy !== null,
  github: github !== null,
  gitlab: gitlab !== null,
})

/** The polled sources, with the projects that the settings name. */
export const polledOf = (
  config: Pick<Config, 'github' | 'gitlab'>,
  { github, gitlab }: HostedClients,
  reads: Pick<Reads, 'silentBuilds'>,
): PolledSource[] =>
  [
    github && polledGithub(github, config.github.repositories, reads),
    gitlab && polledGitlab(gitlab, config.gitlab.projects),
  ].flatMap((polled) => (polled && polled.projects.length > 0 ? polled : []))

interface HostedClients {
  github: GithubClient | null
  gitlab: GitlabClient | null
}

/** Warns if CI refuses the credentials and there are no others to try. */
const warningAuth = (auth: Auth, warn: (what: string) => void): Auth => ({
  ...auth,
  async renewed(refused) {
    const other = await auth.renewed(refused)
    if (other === null) warn(V2_REFUSED)
    return other
  },
})

/** Sent to admins, because only they can fix it. */
export const V2_REFUSED =
  'CI refuses the credentials of its v2 interface: no build can be stopped. Renew CI_AUTHORIZATION, or the OAuth2 client, and start Buildline again.'
export const LEGACY_REFUSED =
  'CI refuses the API key of its legacy interface: no build can be restarted. Renew CI_API_KEY, and start Buildline again.'
export const GITHUB_REFUSED =
  'GitHub refuses GITHUB_TOKEN or the key of the GitHub App: Buildline cannot poll, rerun or cancel runs. Make a new one, and restart Buildline.'
export const GITLAB_REFUSED =
  'GitLab refuses GITLAB_TOKEN: Buildline cannot poll, retry or cancel pipelines. Make a new token, and restart Buildline.'

const createAuth = (auth: CiAuth, transport: Transport): Auth =>
  auth.kind === 'static'
    ? staticAuth(auth.authorization)
    : clientCredentialsAuth({ ...auth, transport, clock: systemClock })
