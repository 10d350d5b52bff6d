import { DatabaseSync } from 'node:sqlite'
import { CLAIMANTS_JOB } from '../../src/features/people/people.ts'
import { databasePath } from '../support/app.ts'
import type { World } from '../support/world.ts'

/** Restarts the app as if a day had passed, so that it looks up who is still in the workspace. */
export async function restartADayLater(world: World): Promise<void> {
  await world.app.stop()
  const db = new DatabaseSync(databasePath(world.folder))
  db.prepare('delete from job where name = ?').run(CLAIMANTS_JOB)
  db.exec('update person set checked_at = 0')
  db.close()
  await world.restartApp()
}
