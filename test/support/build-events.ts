import {
  NO_DETAILS,
  toBuildEvent,
  type BuildDetails,
  type BuildEvent,
  type Origin,
} from '../../src/domain/builds/build-event.ts'
import {
  isBuildId,
  isChannelId,
  isProjectId,
  type BuildId,
  type ChannelId,
  type MessageTs,
  type ProjectId,
} from '../../src/domain/ids.ts'
import { capabilitiesOf, type Capabilities, type Configured } from '../../src/domain/cards/capabilities.ts'
import type { Request } from '../../src/domain/cards/request.ts'
import { foldAttempts, type Attempt } from '../../src/domain/builds/attempt.ts'

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE

/** 2026-03-02 14:00:00 UTC, the beginning of every story. */
export const T0 = Date.UTC(2026, 2, 2, 14)

export const WEB = '41'
export const LIN = 'U0LIN00001'
export const COMMIT = 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334'

/** One delivery by CI. By default it is about build 512 of acme/web, `main`, one second after the previous one. */
export interface Said {
  word: string
  /** ms after `T0` */
  after?: number
  build?: string
  project?: string
  branch?: string | null
  commit?: string | null
  details?: Partial<BuildDetails>
  origin?: Origin
}

/** The build events of a story, in order of receipt: `story('initiated', { word: 'error', after: 9 * MINUTE })`. */
export function story(...said: readonly (string | Said)[]): BuildEvent[] {
  let after = -SECOND
  const orders = new Map<string, string>()
  return said.map((each, index) => {
    const { build = '512', project = WEB, branch = 'main', commit = COMMIT, ...rest } = worded(each)
    after = rest.after ?? after + SECOND
    const details = { ...NO_DETAILS, ...rest.details }
    const ids = { projectId: projectId(project), buildId: buildId(build), branch, commitId: commit }
    const buildEvent = toBuildEvent({ ...ids, rawStatus: rest.word, details }, index + 1, T0 + after, rest.origin)
    // As in the store: a build keeps the order that it got when it was first received.
    const buildOrder = orders.get(build) ?? buildEvent.buildOrder
    orders.set(build, buildOrder)
    return { ...buildEvent, buildOrder }
  })
}

const worded = (said: string | Said): Said => (typeof said === 'string' ? { word: said } : said)

/** The attempts of a story, oldest first. */
export const attemptsOf = (...said: readonly (string | Said)[]): Attempt[] => foldAttempts(story(...said))

/** What is configured, and what is known of the project. */
export interface Known extends Configured {
  project: Parameters<typeof capabilitiesOf>[3]
}

/** No interface of CI is configured. */
export const OUT_OF_REACH: Known = { v2: false, legacy: false, project: null }

/** What can be done with the newest of these attempts. */
export const capabilitiesWith = (
  { project, ...configured }: Known,
  attempts: readonly Attempt[],
  requests: readonly Request[] = [],
): Capabilities => capabilitiesOf(attempts.at(-1)!, requests, configured, project)

/** Lin requests a restart of build 512 of acme/web ten minutes after the story begins; CI is being called. */
export function request(change: Partial<Request> = {}): Request {
  const target = { project: 'acme/web', branch: 'main', projectUuid: null, buildUuid: null }
  return {
    id: 'request-1',
    interactionKey: `ask of ${change.id ?? 'request-1'}`,
    action: 'restart',
    state: 'calling',
    projectId: projectId(WEB),
    buildId: buildId('512'),
    attempt: 1,
    revisionKey: '',
    subject: '',
    target,
    requestedBy: LIN,
    requestedTeam: null,
    channel: null,
    via: 'button',
    requestedAt: T0 + 10 * MINUTE,
    claimedBy: 'process-1',
    code: null,
    reason: null,
    answeredAt: null,
    newBuildId: null,
    newBuildUuid: null,
    lookAt: null,
    endedAt: null,
    ...change,
  }
}

/** The attempts in brief: build, attempt and status, as `512.1 failed`. */
export const briefly = (attempts: readonly Attempt[]): string[] =>
  attempts.map(({ buildId, n, status }) => `${buildId}.${n} ${status}`)

/** The same build events, numbered by their position in the list. */
export const renumbered = (buildEvents: readonly BuildEvent[]): BuildEvent[] =>
  buildEvents.map((buildEvent, index) => ({ ...buildEvent, seq: index + 1 }))

export const projectId = (text: string): ProjectId => checked(text, isProjectId)
export const buildId = (text: string): BuildId => checked(text, isBuildId)
export const channelId = (text: string): ChannelId => checked(text, isChannelId)
export const messageTs = (text: string): MessageTs => checked(text, (ts): ts is MessageTs => /^\d+\.\d{6}$/.test(ts))

function checked<Id extends string>(text: string, isId: (text: string) => text is Id): Id {
  if (!isId(text)) throw new Error(`no id: ${text}`)
  return text
}
