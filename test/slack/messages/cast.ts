import { NO_FAILURE } from '../../../src/domain/builds/failure.ts'
import { isChannelId, type ChannelId, type MessageTs } from '../../../src/domain/ids.ts'
import type { MissingCapability } from '../../../src/domain/cards/capabilities.ts'
import type {
  ShownRequest,
  RequestView,
  FailuresView,
  BuildView,
  CardView,
  NoticeView,
  ReplyView,
  Shown,
} from '../../../src/domain/cards/view.ts'
import { isMessageTs } from '../../../src/slack/api/errors.ts'

export const STARTED_AT = Date.UTC(2026, 4, 4, 14, 2)
export const ENDED_AT = Date.UTC(2026, 4, 4, 14, 9)

export const WEB: BuildView = {
  project: 'acme/web',
  buildId: '512',
  branch: 'main',
  buildUrl: 'https://ci.example/acme/web/builds/512',
  commitUrl: 'https://code.example/acme/web/commit/a1b2c3d4',
  commit: 'a1b2c',
  message: 'fix login\n\nThe cookie was not sent.',
  committer: 'Ada',
}

export const API: BuildView = {
  ...WEB,
  project: 'acme/api',
  buildId: '77',
  buildUrl: 'https://ci.example/acme/api/builds/77',
  committer: 'Grace',
  message: 'drop v1',
}

/** A build without anything that CI may leave out. */
export const BARE: BuildView = {
  project: 'project 7',
  buildId: '9',
  branch: null,
  buildUrl: null,
  commitUrl: null,
  commit: null,
  message: null,
  committer: null,
}

const HOSTILE_TEXT = '<!channel> <@U1> *x* _x_ ~x~ `x` :tada: &amp; <https://evil.example|ok> https://evil.example'

export const HOSTILE: BuildView = {
  project: `*web* ${HOSTILE_TEXT}`,
  buildId: '512',
  branch: '`main` <!here> *x*',
  buildUrl: 'https://ci.example/b?a=1&b=2|x><!channel>',
  commitUrl: 'javascript:alert(1)',
  commit: '*a1*',
  message: `> quote ${HOSTILE_TEXT}\u0007\u202egnp.exe\n:x: second line`,
  committer: 'Ada\n<!everyone>',
}

export const RTL_AND_CJK: BuildView = {
  ...WEB,
  project: 'שלום/עולם',
  branch: '機能/ログイン',
  message: 'إصلاح تسجيل الدخول',
  committer: '山田 太郎 👩‍💻',
}

export const card = (change: Partial<CardView> = {}): CardView => ({
  kind: 'card',
  shown: 'failed',
  word: 'error',
  build: WEB,
  attemptNumber: 1,
  history: [
    { what: 'started', at: STARTED_AT },
    { what: 'ended', at: ENDED_AT },
  ],
  durationMs: ENDED_AT - STARTED_AT,
  mention: null,
  claim: null,
  proposed: null,
  streak: null,
  replaces: null,
  ref: '41/512.1',
  offers: [],
  missing: null,
  unconfirmed: null,
  request: null,
  ...change,
})

export const reply = (change: Partial<ReplyView> = {}): ReplyView => ({
  kind: 'reply',
  shown: 'failed',
  build: WEB,
  attemptNumber: 1,
  isLate: false,
  durationMs: ENDED_AT - STARTED_AT,
  mention: null,
  claim: null,
  proposed: null,
  broadcast: false,
  streak: null,
  ...change,
})

export const ask = (change: Partial<RequestView> = {}): RequestView => ({
  kind: 'request',
  action: 'stop',
  by: 'U0LIN',
  stage: 'asked',
  code: null,
  buildId: '512',
  outcome: null,
  ...change,
})

export const tests = (change: Partial<FailuresView> = {}): FailuresView => ({
  kind: 'failures',
  attemptNumber: 1,
  tests: 412,
  failed: 3,
  named: [
    { ...NO_FAILURE, test: 'LoginTest › redirects', message: 'expected 302, got 200', isNew: true },
    { ...NO_FAILURE, test: 'CartTest › sums', message: 'expected 19.99, got 20', isNew: false },
    { ...NO_FAILURE, test: 'Prices › round', isNew: false },
  ],
  isSame: false,
  log: [],
  ...change,
})

/** What GitHub's annotations say. */
export const annotated = (change: Partial<FailuresView> = {}): FailuresView =>
  tests({
    tests: null,
    failed: 2,
    named: [
      {
        ...NO_FAILURE,
        job: 'lint',
        path: 'src/cart.ts',
        line: 12,
        url: 'https://github.com/acme/web/blob/a1b2c3d4/src/cart.ts#L12',
        message: "'total' is not defined",
        isNew: true,
      },
      { ...NO_FAILURE, job: 'build', step: 'npm ci', message: 'npm error code ERESOLVE', isNew: false },
    ],
    ...change,
  })

/** Failures whose names, messages and log contain the most hostile text. */
export const hostileTests = (): FailuresView =>
  tests({
    named: [
      ...tests().named.map((failure) => ({ ...failure, test: HOSTILE_TEST, message: HOSTILE_TEST })),
      {
        ...NO_FAILURE,
        job: HOSTILE_TEST,
        step: HOSTILE_TEST,
        path: HOSTILE_TEST,
        line: 1,
        url: `https://x.example/|${HOSTILE_TEST}`,
        message: HOSTILE_TEST,
        isNew: false,
      },
    ],
    log: [HOSTILE_TEST, '', '```', '\u001b[31mred'],
  })

const HOSTILE_TEST = `> ${HOSTILE_TEXT} \`\`\` \u0007\u202egnp.exe\u2066`

export const notice = (change: Partial<NoticeView> = {}): NoticeView => ({
  kind: 'notice',
  day: '2026-05-04',
  ignored: 2,
  blocked: 1,
  quota_exceeded: 0,
  builds: [
    { ...WEB, shown: 'ignored' },
    { ...WEB, buildId: '513', shown: 'ignored' },
    { ...API, shown: 'blocked' },
  ],
  ...change,
})

/** One entry for each state; the compiler reports a missing one. */
const SHOWN: { [One in Shown]: { shown: One; word: string } } = {
  requested: { shown: 'requested', word: 'initiated' },
  queued: { shown: 'queued', word: 'queued' },
  started: { shown: 'started', word: 'initiated' },
  waiting: { shown: 'waiting', word: 'waiting' },
  passed: { shown: 'passed', word: 'success' },
  fixed: { shown: 'fixed', word: 'success' },
  flaky: { shown: 'flaky', word: 'success' },
  failed: { shown: 'failed', word: 'error' },
  infrastructure_failure: { shown: 'infrastructure_failure', word: 'infrastructure_failure' },
  stopped: { shown: 'stopped', word: 'stopped' },
  ignored: { shown: 'ignored', word: 'ignored' },
  blocked: { shown: 'blocked', word: 'blocked' },
  quota_exceeded: { shown: 'quota_exceeded', word: 'quota_exceeded' },
  skipped: { shown: 'skipped', word: 'skipped' },
  unknown: { shown: 'unknown', word: 'hibernating' },
}

export const ALL_SHOWN = Object.values(SHOWN)

const STAGES: { [Stage in ShownRequest['stage']]: Stage } = {
  asked: 'asked',
  confirmed: 'confirmed',
  refused: 'refused',
  unclear: 'unclear',
  unconfirmed: 'unconfirmed',
}

export const ALL_STAGES = Object.values(STAGES)

const MISSING: { [Why in MissingCapability]: Why } = {
  'no-github': 'no-github',
  'no-gitlab': 'no-gitlab',
  'no-v2': 'no-v2',
  'no-legacy': 'no-legacy',
  'no-build-uuid': 'no-build-uuid',
  'no-build-number': 'no-build-number',
  'pro-project': 'pro-project',
  'project-unknown': 'project-unknown',
  'not-reviewer': 'not-reviewer',
}

export const ALL_MISSING = Object.values(MISSING)

export const STREAK = { forMs: 2 * 60 * 60_000, builds: 3, atLeast: false }

export function messageTs(text: string): MessageTs {
  if (!isMessageTs(text)) throw new Error(`not a ts: ${text}`)
  return text
}

function channelId(text: string): ChannelId {
  if (!isChannelId(text)) throw new Error(`not a channel: ${text}`)
  return text
}

export const BUILDS_CHANNEL = channelId('C0BUILDS01')

export const OLD_CARD = messageTs('1777881600.000100')
