import * as z from 'zod'
import { isUuid, toUuid, type ProjectId, isIdDigits } from '../../domain/ids.ts'
import { commitTitle, NO_DETAILS, type ReceivedEvent } from '../../domain/builds/build-event.ts'
import type { Project, RestartedBuild, ProjectWithBuilds } from '../../domain/ci-project/project.ts'
import type { NotificationRule } from '../../domain/rules/rule.ts'
import { isRecord, numberOf, numbersAsWritten } from '../../lib/json.ts'
import { cleanText, ciBuildId, projectId, textOrNull, timeMsOrNull, uuid, uuidOrNull } from '../values.ts'
import { ANSWER_ONLY, BASIC_ONLY } from '../../domain/ci-project/project-fields.ts'
import { nestedNameOf, updateNameOf } from './check-rule.ts'

// These texts are stored, so clean them like those of deliveries.
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
export function readLegacyProject(value: unknown): ProjectWithBuilds | null {
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

/** A notification rule as CI sent it; null: its form is unknown. */
export function readRule(value: unknown): NotificationRule | null {
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

function readLegacyBuild(value: unknown, owner: ProjectId): ReceivedEvent | null {
  const parsed = legacyBuildSchema.safeParse(value)
  if (!parsed.success) return null
  const build = parsed.data
  return {
    projectId: owner,
    buildId: build.id,
    branch: build.branch,
    commitId: build.commit_id,
    rawStatus: build.status ?? 'unknown',
    details: {
      ...NO_DETAILS,
      buildUuid: isUuid(build.id) ? toUuid(build.id) : build.uuid,
      committer: build.repository_host_username,
      message: commitTitle(build.message),
      startedAt: build.started_at,
      finishedAt: build.finished_at,
    },
  }
}

const legacyBuildSchema = z.object({
  id: ciBuildId,
  uuid: uuidOrNull,
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

type Fields = Record<string, unknown>

/**
 * The body of an update that makes a project equal to `project`, which has the form of CI's answer. It has all fields,
 * in the request's names: unknown ones unchanged, numbers beyond 2^53 exact, null as null; it adds none. Only fields
 * that CI alone sets, and those that the project's type may not have, are left out. Source: interface, E4.
 */
export function updateBody(project: Fields): Fields {
  const fields = Object.entries(asFields(numbersAsWritten(project))).filter(([name]) => !ANSWER_ONLY.has(name))
  const body = Object.fromEntries(fields.map(([name, value]) => [name, requestValue(name, value)]))
  return isOtherThanBasic(body['type']) ? without(body, BASIC_ONLY) : body
}

/** A rule with its `target` under the name that requests use. Both names are read. */
export function withTargetNamed(rule: Fields): Fields {
  if (!('target' in rule) && !('email_target' in rule)) return rule
  const { target, email_target: emailTarget, ...rest } = rule
  return { ...rest, email_target: target ?? emailTarget ?? null }
}

export const without = (fields: Fields, names: ReadonlySet<string>): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)))

const asFields = (value: unknown): Fields => (isRecord(value) ? value : {})

// A project without a type keeps all fields.
const isOtherThanBasic = (type: unknown): boolean =>
  typeof type === 'string' && type.trim() !== '' && type.trim().toLowerCase() !== 'basic'

function requestValue(name: string, value: unknown): unknown {
  if (!Array.isArray(value)) return value
  if (name === 'notification_rules') return value.map(ruleInRequest)
  return name === 'team_ids' ? value.map(teamInRequest) : value
}

const teamInRequest = (id: unknown): unknown => (typeof id === 'string' && isIdDigits(id) ? numberOf(id) : id)

function ruleInRequest(rule: unknown): unknown {
  if (!isRecord(rule)) return rule
  const named = withTargetNamed(rule)
  const nestedName = nestedNameOf(named['notifier'])
  const { options } = named
  return nestedName === null || !isRecord(options) ? named : { ...named, options: nested(nestedName, options) }
}

// The options in CI's answers belong to the notifier, even one that it does not need, such as `room` for slack.
const ANSWERED_OPTIONS: ReadonlySet<string> = new Set(['key', 'url', 'room', 'domain'])

function nested(notifier: string, options: Fields): Fields {
  const own = Object.entries(options).filter(([name]) => ANSWERED_OPTIONS.has(name))
  const already = options[notifier] ?? {}
  if (own.length === 0 || !isRecord(already)) return options
  // If there is a `domain`, `url` is something else.
  const isDomainThere = 'domain' in options || 'domain' in already
  const renamed = own.map(([name, value]) => [isDomainThere ? name : updateNameOf(notifier, name), value] as const)
  // CI answers with flat options, so changes are made there: they replace nested ones.
  return { ...without(options, ANSWERED_OPTIONS), [notifier]: { ...already, ...Object.fromEntries(renamed) } }
}
