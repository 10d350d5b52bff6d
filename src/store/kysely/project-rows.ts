import type { Selectable } from 'kysely'
import type { BranchFilter } from '../../domain/branch-filter.ts'
import type { ProjectId, Uuid } from '../../domain/ids.ts'
import type { NotificationRule } from '../../domain/rule.ts'
import type { Schema } from '../schema.ts'
import type { HeardProject, KnownProject } from '../kept.ts'

export const toProject = (row: Selectable<Schema['project']>): KnownProject => ({
  uuid: row.uuid as Uuid,
  name: row.name,
  legacyId: row.legacy_id,
  type: row.type,
  rules: row.rules === null ? null : (JSON.parse(row.rules) as NotificationRule[]),
  filter: row.filter === null ? null : (JSON.parse(row.filter) as BranchFilter),
})

export const toHeardProject = (row: Selectable<Schema['heard']>): HeardProject => ({
  projectId: row.project_id as ProjectId,
  name: row.name,
  fullName: row.full_name,
  projectUuid: row.project_uuid as Uuid | null,
  at: row.at,
})
