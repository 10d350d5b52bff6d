import type { Selectable } from 'kysely'
import type { BuildId, ProjectId, Uuid } from '../../domain/ids.ts'
import type { Status } from '../../domain/status.ts'
import type { Schema } from '../schema.ts'
import type { KnownBuild } from '../kept.ts'

export const toKnownBuild = (row: Selectable<Schema['build']>): KnownBuild => ({
  projectId: row.project_id as ProjectId,
  buildId: row.build_id as BuildId,
  run: row.run,
  revisionKey: row.lineage_key,
  episode: row.episode,
  branch: row.branch,
  status: row.status as Status,
  word: row.word,
  at: row.at,
  buildUuid: row.build_uuid as Uuid | null,
  committer: row.committer,
})
