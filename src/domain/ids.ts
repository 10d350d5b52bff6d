// Ids are strings from the wire to the table: CI's integers can exceed 2^53, and its UUIDs do not obey RFC 9562.

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

/** Where builds come from: the CI service, GitHub Actions or GitLab CI. */
export type SourceName = 'ci' | 'github' | 'gitlab'

/**
 * The CI service's integer project id, in decimal digits; a workflow of GitHub's: `github:<repository>:<workflow>`; or a
 * project of GitLab's: `gitlab:<project>`.
 */
export type ProjectId = Branded<'ProjectId'>
/** The source's integer build id, in decimal digits. A restart may re-run the same id. */
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
const HOSTED = /^(?:github:\d{1,20}|gitlab):\d{1,20}$/
const CHANNEL = /^[CGD][A-Z0-9]{2,20}$/

export const isIdDigits = (text: string): boolean => DIGITS.test(text)
export const isProjectId = (text: string): text is ProjectId => isIdDigits(text) || HOSTED.test(text)
export const githubProjectId = (repository: string, workflow: string): ProjectId =>
  `github:${repository}:${workflow}` as ProjectId
export const gitlabProjectId = (project: string): ProjectId => `gitlab:${project}` as ProjectId

/** A project without an id is the CI service's: the other sources name theirs. */
export function sourceOf(projectId: string | null): SourceName {
  const [name] = HOSTED.exec(projectId ?? '') ?? []
  return name === undefined ? 'ci' : name.startsWith('github') ? 'github' : 'gitlab'
}

export const isBuildId = (text: string): text is BuildId => isIdDigits(text)
export const isUuid = (text: string): boolean => UUID.test(text)
export const isChannelId = (text: string): text is ChannelId => CHANNEL.test(text)
export const toUuid = (text: string): Uuid => text.toLowerCase() as Uuid

/** A text that sorts as the number does: `512` becomes `00000000000000000512`. */
export const idOrder = (id: string): string => id.padStart(ID_DIGITS_MAX, '0')

/** As `idOrder` sorts them, and faster: a longer number is a greater one. Below 0: `a` comes first. */
export const compareIds = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a === b ? 0 : 1)

/** A build by its key: `41/512`. */
export const buildKey = (projectId: string, buildId: string): string => `${projectId}/${buildId}`
