import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { OnNews, Reads, Tx } from '../store.ts'
import { createQuery, type Compiled, type Execute } from './query.ts'
import { readRequests, writeRequests } from './requests.ts'
import { readInteractions, writeInteractions, writeEvents } from './interactions.ts'
import { readJobs, writeJobs, writeLeases } from './leases.ts'
import { readPeople, writePeople } from './people.ts'
import { readPlaces, writePrune } from './prune.ts'
import { readDigests, writeDigests, readSubscriptions, writeSubscriptions } from './subscriptions.ts'
import { readFigures } from './figures.ts'
import { readStreaks, writeStreaks } from './streaks.ts'
import { readBuilds, writeBuilds } from './builds.ts'
import { readMovedChannels, writeMovedChannels } from './channels.ts'
import { readCards, writeCards, readDecisions } from './cards.ts'
import { readBuildEvents, writeBuildEvents } from './build-events.ts'
import { readIngest, writeIngest } from './ingest.ts'
import { readPace, writePace } from './pace.ts'
import { readNames } from './project-names.ts'
import { readProjects, writeProjects } from './projects.ts'
import { readReports, writeReports } from './reports.ts'

/**
 * How queries are run. `locks`: lock rows that are read in order to change them, because transactions are concurrent.
 */
interface QueryContext {
  compiled: Compiled
  execute: Execute
  locks: boolean
}

export function createReads(db: Kysely<Schema>, { compiled, execute, locks }: QueryContext): Reads {
  const runQuery = createQuery(compiled, execute)
  return {
    ...readBuildEvents(db, runQuery, locks),
    ...readIngest(db, runQuery, locks),
    ...readDecisions(db, runQuery),
    ...readCards(db, runQuery, locks),
    ...readPace(db, runQuery),
    ...readMovedChannels(db, runQuery),
    ...readProjects(db, runQuery),
    ...readNames(db),
    ...readPeople(db, runQuery, locks),
    ...readSubscriptions(db, runQuery),
    ...readJobs(db),
    ...readPlaces(db),
    ...readReports(db, runQuery),
    ...readBuilds(db, runQuery),
    ...readFigures(db),
    ...readDigests(db),
    ...readStreaks(db, runQuery),
    ...readRequests(db, runQuery),
    ...readInteractions(db, locks),
  }
}

/** @param onNews called for each statement that makes something due */
export function createTx(db: Kysely<Schema>, context: QueryContext & { onNews: OnNews }): Tx {
  const runQuery = createQuery(context.compiled, context.execute)
  return {
    ...createReads(db, context),
    ...writeBuildEvents(db, runQuery, context.onNews),
    ...writeIngest(db, runQuery, context),
    ...writeCards(db, runQuery, context.onNews),
    ...writePace(db, runQuery, context.onNews),
    ...writeMovedChannels(db),
    ...writeProjects(db, runQuery),
    ...writePeople(db, runQuery, context.locks),
    ...writeSubscriptions(db, context.locks),
    ...writeJobs(db),
    ...writeLeases(db, runQuery, context.locks),
    ...writeEvents(db),
    ...writePrune(db, runQuery),
    ...writeReports(db, runQuery),
    ...writeBuilds(db, runQuery),
    ...writeDigests(db),
    ...writeStreaks(db, runQuery, context.onNews),
    ...writeRequests(db),
    ...writeInteractions(db, runQuery),
  }
}
