import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Tx } from '../store.ts'
import { columns, type Ask } from './ask.ts'

type ProjectWrites = Pick<Tx, 'keepProject' | 'linkLegacyProject' | 'forgetProjects' | 'hearProject'>

/** Projects, as CI lists them and as deliveries call them. */
export function writeProjects(db: Kysely<Schema>, ask: Ask): ProjectWrites {
  return {
    async keepProject({ uuid, name, legacyId, type, rules, filter, readAt }) {
      const row = { name, type, rules: textOf(rules), filter: textOf(filter), read_at: readAt }
      await db
        .insertInto('project')
        .values({ uuid, legacy_id: legacyId, ...row })
        .onConflict((conflict) =>
          conflict.column('uuid').doUpdateSet(legacyId === null ? row : { ...row, legacy_id: legacyId }),
        )
        .execute()
    },

    async linkLegacyProject(uuid, legacyId, readAt) {
      await db.updateTable('project').set({ legacy_id: legacyId, read_at: readAt }).where('uuid', '=', uuid).execute()
    },

    async forgetProjects(readBeforeMs) {
      await db.deleteFrom('project').where('read_at', '<', readBeforeMs).execute()
    },

    async hearProject({ projectId, name, fullName, projectUuid, at }) {
      const row = { project_id: projectId, name, full_name: fullName, project_uuid: projectUuid, at }
      await ask('hearProject', row, (value) =>
        db
          .insertInto('heard')
          .values(columns(row, value))
          .onConflict((conflict) => conflict.column('project_id').doUpdateSet(columns(row, value))),
      )
    },
  }
}

const textOf = (value: object | null): string | null => (value === null ? null : JSON.stringify(value))
