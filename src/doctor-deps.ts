import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { BadgeClient } from './sources/ci-service/badge.ts'
import type { GithubClient } from './sources/github/client.ts'
import type { GitlabClient } from './sources/gitlab/client.ts'
import type { Config } from './config.ts'
import { createSlackExaminer, EMAIL_SCOPE, SCOPES } from './slack/api/examiner.ts'
import type { DoctorDeps } from './features/doctor/findings.ts'
import { githubHost, gitlabHost } from './features/doctor/hosts.ts'
import { presentedSecret } from './sources/ci-service/webhook/endpoint.ts'
import { percentDecoded } from './lib/escape.ts'
import { createSecretCheck } from './sources/endpoint.ts'

/** What the doctor looks at, for the bot and for the command line. */
export function doctorDeps(
  config: Config,
  {
    badges,
    webhookSecrets,
    github,
    gitlab,
    ...deps
  }: Pick<
    DoctorDeps,
    | 'clock'
    | 'log'
    | 'store'
    | 'subscriptions'
    | 'namesWithoutSource'
    | 'wrongSignatures'
    | 'socketTrouble'
    | 'v2'
    | 'legacy'
  > & {
    badges: BadgeClient | null
    github: GithubClient | null
    gitlab: GitlabClient | null
    /** those that are valid now */
    webhookSecrets: () => readonly string[]
  },
): DoctorDeps {
  const { slack, database, ci, webhookSecrets: ciSecrets } = config
  return {
    ...deps,
    badges,
    usesCi: (!github && !gitlab) || [ci.v2, ci.legacy, ci.siteUrl, ciSecrets[0]].some((one) => one != null),
    hosts: {
      github: github && githubHost(github, config.github.repositories),
      gitlab: gitlab && gitlabHost(gitlab, config.gitlab.projects),
    },
    slack: createSlackExaminer({
      token: slack.botToken,
      appToken: slack.appToken,
      apiUrl: slack.apiUrl,
      clock: deps.clock,
    }),
    fixed: config.subscriptions,
    scopesNeeded: config.asksByEmail ? [...SCOPES, EMAIL_SCOPE] : SCOPES,
    isOurs: (webhook) => isOurs(webhook, webhookSecrets()),
    freeBytes: database.kind === 'sqlite' ? () => freeBytesOf(dirname(database.path)) : null,
  }
}

/** Does an address carry one of our secrets, in any of the places where the endpoint looks for it? */
function isOurs(webhook: URL, secrets: readonly string[]): boolean {
  const { username, password } = webhook
  const basic = Buffer.from(`${percentDecoded(username)}:${percentDecoded(password)}`).toString('base64')
  return createSecretCheck(secrets)(presentedSecret('builds', webhook, password === '' ? undefined : `Basic ${basic}`))
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
