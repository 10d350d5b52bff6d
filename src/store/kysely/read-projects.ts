import { sql, type Kysely, type Selectable } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Reads } from '../store.ts'
import type { Ask } from './ask.ts'
import { toHeardProject, toProject } from './project-rows.ts'

type ProjectReads = Pick<Reads, 'project' | 'projects' | 'heardProjects' | 'lastDeliveries'>

/** Projects, as CI lists them and as deliveries call them. */
export function readProjects(db: Kysely<Schema>, ask: Ask): ProjectReads {
  return {
    async project({ uuid, legacyId, names }) {
      const [byUuid] =
        uuid === null
          ? []
          : await ask('projectByUuid', { uuid }, (value) =>
              db.selectFrom('project').selectAll().where('uuid', '=', value('uuid')),
            )
      const [byId] = byUuid
        ? [byUuid]
        : await ask('projectByLegacyId', { legacyId }, (value) =>
            db.selectFrom('project').selectAll().where('legacy_id', '=', value('legacyId')).limit(sql.lit(1)),
          )
      if (byId) return toProject(byId)
      const found: Selectable<Schema['project']>[] = []
      for (const name of new Set(names))
        found.push(
          ...(await ask('projectByName', { name }, (value) =>
            db.selectFrom('project').selectAll().where('name', '=', value('name')).limit(sql.lit(2)),
          )),
        )
      // Two projects of one name: which rules are meant is not clear, so none are.
      return new Set(found.map((row) => row.uuid)).size === 1 ? toProject(found[0]!) : null
    },

    async projects() {
      const rows = await db.selectFrom('project').selectAll().orderBy('name').orderBy('uuid').execute()
      return rows.map((row) => ({ ...toProject(row), readAt: row.read_at }))
    },

    async heardProjects() {
      return (await db.selectFrom('heard').selectAll().orderBy('name').execute()).map(toHeardProject)
    },

    async lastDeliveries(limit) {
      // As many rows as projects: an index would cost every delivery a write.
      const rows = await db
        .selectFrom('heard')
        .select(['name', 'full_name', 'at'])
        .orderBy('at', 'desc')
        .orderBy('name')
        .limit(limit)
        .execute()
      return rows.map(({ name, full_name: fullName, at }) => ({ project: fullName ?? name, at }))
    },
  }
}
