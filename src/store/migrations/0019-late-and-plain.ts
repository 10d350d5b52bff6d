import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { normalHandle } from '../../domain/handle.ts'

/**
 * What Slack sent, so that another process can carry out what a dead one has left. And the names of committers in the form
 * in which they are compared now: `O’Neil` and `O'Neil` are one person, of two claims the first one counts.
 */
export const lateAndPlain: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table interaction add column body text`.execute(db)
    const { rows: claims } = await sql<{ handle: string }>`select handle from person order by claimed_at`.execute(db)
    const first = new Map(claims.toReversed().map(({ handle }) => [normalHandle(handle), handle]))
    for (const { handle } of claims)
      if (first.get(normalHandle(handle)) !== handle) await sql`delete from person where handle = ${handle}`.execute(db)
    for (const [normal, handle] of first)
      if (normal !== handle) await sql`update person set handle = ${normal} where handle = ${handle}`.execute(db)
    const { rows: committers } = await sql<{ committer: string }>`
      select distinct committer from build where committer is not null`.execute(db)
    for (const { committer } of committers) {
      const normal = normalHandle(committer)
      if (normal !== committer)
        await sql`update build set committer = ${normal} where committer = ${committer}`.execute(db)
    }
  },
}
