import { describe } from 'vitest'
import type { Places } from '../support/stores.ts'
import { streakClaims } from './claims/streaks.ts'
import { buildClaims } from './claims/builds.ts'
import { cardClaims } from './claims/cards.ts'
import { crashClaims } from './claims/crash.ts'
import { decisionClaims } from './claims/decisions.ts'
import { digestClaims } from './claims/digests.ts'
import { figureClaims } from './claims/figures.ts'
import { episodeClaims } from './claims/episodes.ts'
import { buildEventClaims } from './claims/build-events.ts'
import { ingestClaims } from './claims/ingest.ts'
import { interactionClaims } from './claims/interactions.ts'
import { jobClaims } from './claims/jobs.ts'
import { laneClaims } from './claims/queues.ts'
import { leaseClaims } from './claims/leases.ts'
import { messageClaims } from './claims/messages.ts'
import { movedChannelClaims } from './claims/moved-channels.ts'
import { paceClaims } from './claims/pace.ts'
import { peopleClaims } from './claims/people.ts'
import { planClaims } from './claims/plans.ts'
import { pruneClaims } from './claims/prune.ts'
import { deliveredProjectClaims } from './claims/delivered-projects.ts'
import { projectClaims } from './claims/projects.ts'
import { projectRequestClaims } from './claims/project-requests.ts'
import { reminderClaims } from './claims/reminders.ts'
import { reportClaims } from './claims/reports.ts'
import { requestClaims } from './claims/requests.ts'
import { silentClaims } from './claims/silent.ts'
import { subscriptionClaims } from './claims/subscriptions.ts'
import { writeClaims } from './claims/writes.ts'

const CLAIMS = {
  writes: writeClaims,
  crashes: crashClaims,
  buildEvents: buildEventClaims,
  cardNumbers: episodeClaims,
  ingest: ingestClaims,
  decisions: decisionClaims,
  cards: cardClaims,
  queues: laneClaims,
  messages: messageClaims,
  'calls and channels': paceClaims,
  'moved channels': movedChannelClaims,
  builds: buildClaims,
  reports: reportClaims,
  streaks: streakClaims,
  reminders: reminderClaims,
  requests: requestClaims,
  'requests about projects': projectRequestClaims,
  interactions: interactionClaims,
  projects: projectClaims,
  'delivered projects': deliveredProjectClaims,
  people: peopleClaims,
  subscriptions: subscriptionClaims,
  figures: figureClaims,
  digests: digestClaims,
  jobs: jobClaims,
  leases: leaseClaims,
  retention: pruneClaims,
  'silent builds': silentClaims,
  plans: planClaims,
}

/** What every store promises, whatever its database. */
export function conformance(places: () => Places): void {
  for (const [about, claims] of Object.entries(CLAIMS)) describe(about, () => claims(places))
}
