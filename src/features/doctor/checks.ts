import { channels, names } from './check-channels.ts'
import { legacy, site, v2, v2Scopes } from './check-ci.ts'
import { github, gitlab } from './check-hosts.ts'
import { clockOfSlack, requests, scopes, token } from './check-slack.ts'
import { database } from './check-store.ts'
import { silentProjects, webhookRules } from './check-webhooks.ts'
import type { Check } from './findings.ts'

/** In the order of the answer. */
export const CHECKS: readonly Check[] = [
  token,
  scopes,
  requests,
  clockOfSlack,
  channels,
  names,
  v2,
  v2Scopes,
  legacy,
  site,
  github,
  gitlab,
  webhookRules,
  silentProjects,
  database,
]
