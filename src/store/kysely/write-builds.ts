import type { Kysely } from 'kysely'
import { normalHandle } from '../../domain/handle.ts'
import { branchKey } from '../../domain/revision.ts'
import { buildKey, idOrder } from '../../domain/ids.ts'
import type { Schema } from '../schema.ts'
import type { Tx } from '../store.ts'
import { columns, type Ask } from './ask.ts'

type BuildWrites = Pick<Tx, 'keepBuild' | 'forgetBuild'>

/** Where builds stand. */
export function writeBuilds(db: Kysely<Schema>, ask: Ask): BuildWrites {
  return {
    async keepBuild(build) {
      const row = {
        build_key: buildKey(build.projectId, build.buildId),
        project_id: build.projectId,
        build_id: build.buildId,
        build_order: idOrder(build.buildId),
        branch_key: branchKey(build.projectId, build.branch),
        branch: build.branch,
        lineage_key: build.revisionKey,
        episode: build.episode,
        run: build.run,
        status: build.status,
        word: build.word,
        at: build.at,
        is_running: build.status === 'started' ? 1 : 0,
        build_uuid: build.buildUuid,
        committer: build.committer === null ? null : normalHandle(build.committer),
      }
      await ask('keepBuild', row, (value) =>
        db
          .insertInto('build')
          .values(columns(row, value))
          .onConflict((conflict) => conflict.column('build_key').doUpdateSet(columns(row, value))),
      )
    },

    async forgetBuild(projectId, buildId) {
      await db.deleteFrom('build').where('build_key', '=', buildKey(projectId, buildId)).execute()
    },
  }
}
