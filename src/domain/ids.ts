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

export const isUuid = (text: string): boolean => UUID.test(text)
export const isBuildId = (text: string): text is BuildId => isIdDigits(text) || isUuid(text)
export const isChannelId = (text: string): text is ChannelId => CHANNEL.test(text)
export const toUuid = (text: string): Uuid => text.toLowerCase() as Uuid
/** Of a build whose id is its uuid. */
export const uuidBuildId = (uuid: Uuid): BuildId => uuid as string as BuildId

/** A text that sorts as the number does: `512` becomes `00000000000000000512`. */
export const idOrder = (id: string): string => id.padStart(ID_DIGITS_MAX, '0')

/**
 * A build's place among those of its project: a text that sorts, the newest last. A number is its own place. A UUID's is
 * behind the highest number that the project had by then, and there by time (decision 20): `00000000000000000512~…`.
 * @param beganAt the earliest time (ms) at which the build is known to have been there
 * @param newest the place of the project's newest build
 */
export const orderOf = (id: BuildId, beganAt: number, newest = idOrder('')): string =>
  isIdDigits(id) ? idOrder(id) : `${newest.slice(0, ID_DIGITS_MAX)}~${String(beganAt).padStart(MS_DIGITS, '0')}~${id}`

/** The longest time in ms that a date can have. */
const MS_DIGITS = 16

/** Below 0: the build at the place `a` is the older one. */
export const compareOrders = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)

/** As people see an id: of a UUID as much as Git shows of a commit. */
export const shortId = (id: string): string => (isUuid(id) ? id.slice(0, SHORT_CHARS) : id)

const SHORT_CHARS = 8

/** Could people know a build by this, behind a `#`? */
export const isShortId = (text: string): boolean => isIdDigits(text) || SHORT.test(text)

/** A build by its key: `41/512`. */
export const buildKey = (projectId: string, buildId: string): string => `${projectId}/${buildId}`
