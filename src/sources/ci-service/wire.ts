import * as z from 'zod'
import { isUuid, toUuid, type ProjectId } from '../../domain/ids.ts'
import type { LegacyBuild, LegacyProject, Project, RestartedBuild } from '../../domain/project.ts'
import type { NotificationRule } from '../../domain/rule.ts'
import { isRecord } from '../../lib/json.ts'
import { cleanText, ciBuildId, projectId, textOrNull, timeMsOrNull, uuid, uuidOrNull } from '../values.ts'

// These texts are stored, so they are cleaned, as those of deliveries are.
const keptText = textOrNull.transform((text) => text && cleanText(text))

/** A v2 project, bare or as `{project: {…}}`; null without a usable uuid. */
export function readProject(value: unknown): Project | null {
  const raw = unwrapped(value, 'project')
  const parsed = projectSchema.safeParse(raw)
  if (!parsed.success || !isRecord(raw)) return null
  const { uuid: projectUuid, id, name, type, repository_url: repositoryUrl, notification_rules: rules } = parsed.data
  return {
    uuid: projectUuid,
    id,
    name: name ?? repositoryPath(repositoryUrl ?? '') ?? projectUuid,
    type: typeOf(type),
    rules: rules.flatMap((rule) => readRule(rule) ?? []),
    raw,
  }
}

const typeOf = (type: string | null): string =>
  ['basic', 'pro'].find((known) => known === type?.trim().toLowerCase()) ?? type ?? 'unknown'

const projectSchema = z.object({
  uuid,
  id: projectId.nullable().catch(null),
  name: keptText,
  type: keptText,
  repository_url: keptText,
  notification_rules: z.array(z.unknown()).catch([]),
})

/** The AES key in the answer to a reset: in a project, bare or wrapped, or on its own; null if there is none. */
export function readAesKey(value: unknown): string | null {
  const keys = [unwrapped(value, 'project'), value].map((from) => (isRecord(from) ? from['aes_key'] : null))
  return keys.map((key) => textOrNull.parse(key)).find((key) => key !== null) ?? null
}

/** A legacy project, bare or as `{project: {…}}`; null without a usable id. */
export function readLegacyProject(value: unknown): LegacyProject | null {
  const parsed = legacyProjectSchema.safeParse(unwrapped(value, 'project'))
  if (!parsed.success) return null
  const { id, uuid: projectUuid, repository_name: repositoryName, name } = parsed.data
  return {
    id,
    uuid: projectUuid,
    name: repositoryName ?? name ?? `project ${id}`,
    builds: parsed.data.builds.flatMap((build) => readLegacyBuild(build, id) ?? []),
  }
}

const legacyProjectSchema = z.object({
  id: projectId,
  uuid: uuidOrNull,
  repository_name: keptText,
  name: keptText,
  builds: z.array(z.unknown()).catch([]),
})

/** The answer to a restart, bare or as `{build: {…}}`. */
export const readRestartedBuild = (value: unknown): RestartedBuild =>
  restartedBuildSchema.catch({ id: null, uuid: null }).parse(unwrapped(value, 'build'))

const restartedBuildSchema = z.object({ id: ciBuildId.nullable().catch(null), uuid: uuidOrNull })

function readRule(value: unknown): NotificationRule | null {
  const parsed = ruleSchema.safeParse(value)
  if (!parsed.success) return null
  const { notifier, target, email_target: emailTarget, branch, branch_match: branchMatch, build_statuses } = parsed.data
  return { notifier, target: target ?? emailTarget, branch, branchMatch, buildStatuses: build_statuses }
}

// A rule whose branch or events have an unknown form is dropped: a guess would notify the wrong people.
const ruleSchema = z.object({
  notifier: z.string().trim().min(1),
  target: textOrNull,
  email_target: textOrNull,
  branch: z
    .string()
    .nullish()
    .transform((branch) => branch ?? null),
  branch_match: textOrNull,
  build_statuses: z
    .array(z.string())
    .nullish()
    .transform((statuses) => statuses ?? []),
})

function readLegacyBuild(value: unknown, owner: ProjectId): LegacyBuild | null {
  const parsed = legacyBuildSchema.safeParse(value)
  if (!parsed.success) return null
  const build = parsed.data
  return {
    id: build.id,
    uuid: isUuid(build.id) ? toUuid(build.id) : build.uuid,
    projectId: build.project_id ?? owner,
    status: build.status ?? 'unknown',
    branch: build.branch,
    commitId: build.commit_id,
    committer: build.repository_host_username,
    message: build.message,
    startedAt: build.started_at,
    finishedAt: build.finished_at,
  }
}

const legacyBuildSchema = z.object({
  id: ciBuildId,
  uuid: uuidOrNull,
  project_id: projectId.nullable().catch(null),
  status: keptText,
  branch: keptText,
  commit_id: keptText,
  repository_host_username: keptText,
  message: keptText,
  started_at: timeMsOrNull,
  finished_at: timeMsOrNull,
})

function unwrapped(value: unknown, name: 'project' | 'build'): unknown {
  const isWrapper = isRecord(value) && !('id' in value) && !('uuid' in value) && isRecord(value[name])
  return isWrapper ? value[name] : value
}

/** `acme/web` of `https://host/acme/web.git` or `git@host:acme/web.git`. */
export const repositoryPath = (url: string): string | undefined =>
  /^(?:[\w+.-]+:\/\/[^/]+\/|[^/:]+:)(.+?)(?:\.git)?\/?$/.exec(url)?.[1]
