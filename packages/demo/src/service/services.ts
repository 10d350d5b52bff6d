import { createSandboxCi } from '../../../sandbox-ci/src/server.ts'
import type { Switches } from '../../../sandbox-ci/src/switches.ts'
import { createSandboxGithub } from '../../../sandbox-github/src/server.ts'
import { createSandboxGitlab } from '../../../sandbox-gitlab/src/server.ts'
import { ciService } from './ci.ts'
import { githubService } from './github.ts'
import { gitlabService } from './gitlab.ts'
import type { Service } from './service.ts'

/** What `--source` names, each with a fresh sandbox. */
export const SERVICES: ReadonlyMap<string, () => Service> = new Map([
  ['ci', () => ciService(createSandboxCi({ switches: REDELIVERY }))],
  ['github', () => githubService(createSandboxGithub({ repositories: REPOSITORIES }))],
  ['gitlab', () => gitlabService(createSandboxGitlab())],
])

/** This CI repeats a delivery that was not taken, for about a minute: the bot may be killed and come back meanwhile. */
const REDELIVERY: Partial<Switches> = { deliveryRetriesMax: 8, deliveryRetryMs: 250 }

/** Each with the one workflow `CI`. */
const REPOSITORIES = ['acme/web', 'acme/api', 'acme/ios'].map((name) => ({ name }))
