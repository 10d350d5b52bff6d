import { hash } from 'node:crypto'

// Ids are strings everywhere: CI's integers can exceed 2^53, and its UUIDs do not follow RFC 9562.

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

/** Where builds come from: the CI service, GitHub Actions or GitLab CI. */
export const SOURCES = ['ci', 'github', 'gitlab'] as const
export type SourceName = (typeof SOURCES)[number]

/**
 * The CI service's integer project id in decimal digits, a GitHub workflow as `github:<repository>:<workflow>`, or a
 * GitLab project as `gitlab:<project>`.
 */
export type ProjectId = Branded<'ProjectId'>
/** The source's integer build id, in decimal digits, or the CI service's UUID. A restart may re-run the same id. */
export type BuildId = Branded<'BuildId'>
/** Any 8-4-4-4-12 hex, lower case. */
export type Uuid = Branded<'Uuid'>
/** A Slack channel id, such as `C0123ABCD`. */
export type ChannelId = Branded<'ChannelId'>
/** A Slack message's id within its channel, such as `1700000000.000100`. */
export type MessageTs = Branded<'MessageTs'>

/** The longest id accepted, in digits: 2^64 has 20. */
export const ID_DIGITS_MAX = 20

const DIGITS = /^(?:0|[1-9]\d{0,19})$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const SHORT = /^[0-9a-f]{8}$/
const HOSTED = /^(?:github:\d{1,20}|gitlab):\d{1,20}$/
const REPOSITORY = /^github:\d{1,20}$/
const CHANNEL = /^[CGD][A-Z0-9]{2,20}$/

export const isIdDigits = (text: string): boolean => DIGITS.test(text)
export const isProjectId = (text: string): text is ProjectId => isIdDigits(text) || HOSTED.test(text)
export const githubProjectId = (repository: string, workflow: string): ProjectId =>
  `github:${repository}:${workflow}` as ProjectId
/** All workflows of a repository: where a report names no workflow. */
export const repositoryProjectId = (repository: string): ProjectId => `github:${repository}` as ProjectId
export const gitlabProjectId = (project: string): ProjectId => `gitlab:${project}` as ProjectId

/** A project without an id is the CI service's: the other sources always give an id. */
export function sourceOf(projectId: string | null): SourceName {
  const [name] = HOSTED.exec(projectId ?? '') ?? REPOSITORY.exec(projectId ?? '') ?? []
  return name === undefined ? 'ci' : name.startsWith('github') ? 'github' : 'gitlab'
}

/** The repository of a GitHub workflow, as `github:<repository>`; null: it is not a workflow. */
export const repositoryOf = (projectId: string): string | null => /^(github:\d+):\d+$/.exec(projectId)?.[1] ?? null

/** Whether this is the id of a GitHub repository, which stands for all its workflows. */
export const isRepositoryId = (id: string | null | undefined): id is `github:${string}` => REPOSITORY.test(id ?? '')

export const isUuid = (text: string): boolean => UUID.test(text)
export const isBuildId = (text: string): text is BuildId => isIdDigits(text) || isUuid(text)
export const isChannelId = (text: string): text is ChannelId => CHANNEL.test(text)
export const toUuid = (text: string): Uuid => text.toLowerCase() as Uuid
/** The id of a build that CI delivers by its uuid. */
export const uuidBuildId = (uuid: Uuid): BuildId => uuid as string as BuildId

/** A string that sorts like the number: `512` becomes `00000000000000000512`. */
export const idOrder = (id: string): string => id.padStart(ID_DIGITS_MAX, '0')

/**
 * A build's place among its project's builds: a string that sorts the newest last. A number is its own place. A UUID
 * comes after the highest number that the project had then, sorted by time (decision 20): `00000000000000000512~…`.
 * @param beganAt the earliest time (ms) at which the build is known to exist
 * @param newest the place of the project's newest build
 */
export const orderOf = (id: BuildId, beganAt: number, newest = idOrder('')): string =>
  isIdDigits(id) ? idOrder(id) : `${newest.slice(0, ID_DIGITS_MAX)}~${String(beganAt).padStart(MS_DIGITS, '0')}~${id}`

/** Sorts after every build's place. */
export const LAST_ORDER = '~'

/** The digits of the latest possible date in ms. */
const MS_DIGITS = 16

/** Negative if the build at place `a` is the older one. */
export const compareOrders = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)

/** An id as people see it: a UUID is cut to its first characters, as Git does with commits. */
export const shortId = (id: string): string => (isUuid(id) ? id.slice(0, SHORT_CHARS) : id)

const SHORT_CHARS = 8

/** Whether this text, after a `#`, can be the number of a build as people know it. */
export const isShortId = (text: string): boolean => isIdDigits(text) || SHORT.test(text)

/** A key of these parts: 32 hex digits, the same on every machine. */
export const digest = (parts: readonly (string | null)[]): string => hash('sha256', JSON.stringify(parts)).slice(0, 32)

/** A build by its key: `41/512`. */
export const buildKey = (projectId: string, buildId: string): string => `${projectId}/${buildId}`
