import { isChannelId, toUuid } from '../../../../src/domain/ids.ts'
import { NO_FAILURE } from '../../../../src/domain/builds/failure.ts'
import { parseAttemptRef } from '../../../../src/domain/cards/request.ts'
import type { Shown } from '../../../../src/domain/cards/view.ts'
import { invariant } from '../../../../src/lib/assert.ts'
import { isMessageTs } from '../../../../src/slack/api/errors.ts'
import type { BuildSummary, ProjectRef } from '../../../../src/projects/outcomes.ts'

/** Every text in an answer that comes from outside: what samples say, and what tests make hostile. */
export interface Cast {
  project: string
  other: string
  branch: string
  message: string
  committer: string
  /** what somebody typed */
  typed: string
  number: string
  /** CI's own words: for a state, on a badge, for an error */
  word: string
  badge: string
  reason: string
  buildUrl: string
  /** a Slack user's id, and a user group's */
  user: string
  group: string
  code: string
}

export const BUILD_UUID = toUuid('0f0f0f0f-1111-2222-3333-444444444444')

export const CAST: Cast = {
  project: 'acme/web',
  other: 'acme/api',
  branch: 'main',
  message: 'fix login',
  committer: 'Ada',
  typed: 'wbe',
  number: '#999',
  word: 'hibernating',
  badge: 'build passing',
  reason: 'the project is locked',
  buildUrl: 'https://ci.example/acme/web/builds/512',
  user: 'U0LIN',
  group: 'S0OPS',
  code: 'fatal_error',
}

export const BUILD_AT = Date.UTC(2026, 4, 4, 14, 9)
export const RED_AT = Date.UTC(2026, 4, 3, 9, 30)
export const REFERENCE = 'k3f9q2'

const REF = read(parseAttemptRef('41/512.1'))
export const OTHER_REF = read(parseAttemptRef('42/512.1'))
export const NEW_BUILD = read(parseAttemptRef('41/513.1')).buildId
export const PROJECT_UUID = toUuid('0a1b2c3d-0000-4000-8000-0123456789ab')
const CHANNEL_ID = 'C0BUILDS01'
export const CHANNEL = read(isChannelId(CHANNEL_ID) ? CHANNEL_ID : null)

const FORMER_ID = 'G0BUILDS00'
/** The id that the channel had before. */
export const FORMER_CHANNEL = read(isChannelId(FORMER_ID) ? FORMER_ID : null)

const tsOf = (text: string) => read(isMessageTs(text) ? text : null)
export const CARD_TS = tsOf(`${Date.UTC(2026, 4, 4, 14, 2) / 1_000}.000100`)
export const REPLY_TS = tsOf(`${BUILD_AT / 1_000}.000200`)

function read<Value>(value: Value | null): Value {
  invariant(value !== null, 'a sample reads as what it is')
  return value
}

const WORDS: Record<Exclude<Shown, 'unknown'>, string> = {
  requested: 'initiated',
  queued: 'queued',
  started: 'initiated',
  waiting: 'waiting',
  passed: 'success',
  fixed: 'success',
  flaky: 'success',
  failed: 'error',
  infrastructure_failure: 'infrastructure_failure',
  stopped: 'stopped',
  ignored: 'ignored',
  blocked: 'blocked',
  quota_exceeded: 'quota_exceeded',
  skipped: 'skipped',
}

export const buildOf = (cast: Cast, shown: Shown = 'failed', change: Partial<BuildSummary> = {}): BuildSummary => ({
  project: cast.project,
  buildId: '512',
  branch: cast.branch,
  buildUrl: cast.buildUrl,
  commitUrl: null,
  commit: 'a1b2c',
  message: cast.message,
  committer: cast.committer,
  ref: REF,
  shown,
  word: shown === 'unknown' ? cast.word : WORDS[shown],
  attemptNumber: 1,
  at: BUILD_AT,
  streak: shown === 'failed' ? { at: RED_AT, builds: 3, atLeast: false } : null,
  offers: shown === 'started' ? ['stop'] : shown === 'failed' ? ['restart'] : [],
  missing: null,
  unconfirmed: null,
  ...change,
})

/** Tests of a build that failed. */
export const testsOf = ({ typed, word }: Cast): NonNullable<BuildSummary['failures']> => ({
  tests: 412,
  failed: 5,
  named: [
    { ...NO_FAILURE, test: 'LoginTest › redirects', isNew: true },
    { ...NO_FAILURE, test: typed, isNew: false },
    { ...NO_FAILURE, test: word, isNew: false },
  ],
  isSame: false,
  log: [],
})

export const projectOf = (name: string, change: Partial<ProjectRef> = {}): ProjectRef => ({
  projectId: '41',
  uuid: PROJECT_UUID,
  name,
  type: 'basic',
  ...change,
})
