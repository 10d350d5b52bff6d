import { legacy, site, v2, v2Scopes } from './check-ci.ts'
import { github, gitlab } from './check-hosts.ts'
import { clockOfSlack, requests, scopes, token } from './check-slack.ts'
import { database } from './check-store.ts'
import type { Check } from '../kit/check.ts'

/** Checks of what no other feature owns: the connections and the database. In the order of the answer. */
export const CHECKS: readonly Check[] = [
  token,
  scopes,
  requests,
  clockOfSlack,
  v2,
  v2Scopes,
  legacy,
  site,
  github,
  gitlab,
  database,
]
