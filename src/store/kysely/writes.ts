import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Tx } from '../store.ts'
import { createAsk, createInsert } from './ask.ts'
import { writeEvents } from './events.ts'
import { writeInteractions } from './interactions.ts'
import { writeJobs } from './jobs.ts'
import { writeLeases } from './leases.ts'
import { writePeople } from './people.ts'
import { writeProjectRequests } from './project-requests.ts'
import { writePrune } from './prune.ts'
import { createReads, type Asking } from './reads.ts'
import { writeSilent } from './silent.ts'
import { writeSubscriptions } from './subscriptions.ts'
import { writeBuilds } from './write-builds.ts'
import { writeCards } from './write-cards.ts'
import { writeFacts } from './write-facts.ts'
import { writeIntake } from './write-intake.ts'
import { writePace } from './write-pace.ts'
import { writeProjects } from './write-projects.ts'
import { writeRequests } from './write-requests.ts'

export function createTx(db: Kysely<Schema>, asking: Asking): Tx {
  const ask = createAsk(asking.compiled, asking.execute)
  return {
    ...createReads(db, asking),
    ...writeFacts(db, ask, createInsert(db, asking.compiled, asking.execute)),
    ...writeIntake(db, ask, asking.locks),
    ...writeCards(db, ask),
    ...writePace(db, ask),
    ...writeProjects(db, ask),
    ...writePeople(db, ask, asking.locks),
    ...writeSubscriptions(db, asking.locks),
    ...writeJobs(db),
    ...writeLeases(db, asking.locks),
    ...writeEvents(db),
    ...writePrune(db),
    ...writeSilent(db),
    ...writeBuilds(db, ask),
    ...writeRequests(db),
    ...writeProjectRequests(db),
    ...writeInteractions(db, ask),
  }
}
