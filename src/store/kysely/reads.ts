import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Reads } from '../store.ts'
import { createAsk, type Compiled, type Execute } from './ask.ts'
import { readAudit } from './audit.ts'
import { readInteractions } from './interactions.ts'
import { readJobs } from './jobs.ts'
import { readPeople } from './people.ts'
import { readProjectRequests } from './project-requests.ts'
import { readPlaces } from './prune.ts'
import { readBuilds } from './read-builds.ts'
import { readCards } from './read-cards.ts'
import { readDecisions } from './read-decisions.ts'
import { readFacts } from './read-facts.ts'
import { readIntake } from './read-intake.ts'
import { readPace } from './read-pace.ts'
import { readProjects } from './read-projects.ts'
import { readRequests } from './read-requests.ts'
import { readSilent } from './silent.ts'
import { readSubscriptions } from './subscriptions.ts'

/** How a set of queries is asked; `locks`: what is read to be changed must be locked, since others write side by side. */
export interface Asking {
  compiled: Compiled
  execute: Execute
  locks: boolean
}

export function createReads(db: Kysely<Schema>, { compiled, execute, locks }: Asking): Reads {
  const ask = createAsk(compiled, execute)
  return {
    ...readFacts(db, ask, locks),
    ...readIntake(db, ask, locks),
    ...readDecisions(db, ask),
    ...readCards(db, ask, locks),
    ...readPace(db, ask),
    ...readProjects(db, ask),
    ...readPeople(db, ask, locks),
    ...readSubscriptions(db, ask),
    ...readJobs(db),
    ...readPlaces(db),
    ...readSilent(db),
    ...readBuilds(db, ask),
    ...readRequests(db, ask),
    ...readProjectRequests(db),
    ...readAudit(db),
    ...readInteractions(db, locks),
  }
}
