import type { Missing } from '../../../src/domain/offer.ts'
import type { Asked, CardView, Shown, View } from '../../../src/domain/view.ts'
import {
  ALL_MISSING,
  ALL_SHOWN,
  ALL_STAGES,
  API,
  ask,
  BARE,
  card,
  ENDED_AT,
  HOSTILE,
  notice,
  OLD_CARD,
  RECOVERY,
  reply,
  RTL_AND_CJK,
  STARTED_AT,
  WEB,
} from './cast.ts'

const RUNNING = {
  shown: 'started',
  word: 'initiated',
  history: [{ what: 'started', at: STARTED_AT }],
  durationMs: null,
} as const

/** How far a request has come, with what CI said where it said something. */
const STAGES = ALL_STAGES.map((stage) => [stage, stage === 'refused' ? 'not-found' : null] as const)

const REFUSALS = [
  'bad-request',
  'not-found',
  'unauthorized',
  'forbidden',
  'rate-limited',
  'unreachable',
  'timeout',
  'new',
]

/** Every message a person may meet, by the name of its file. */
export const GOLDEN_CASES: Record<string, View> = {
  ...Object.fromEntries(ALL_SHOWN.map(({ shown, word }) => [`card-${shown}`, cardOf(shown, word)])),
  ...Object.fromEntries(ALL_SHOWN.map(({ shown }) => [`reply-${shown}`, reply({ shown, ...recoveryOf(shown) })])),
  'card-attempt-2': card({ attempt: 2 }),
  'card-born-red-mention': card({ mention: 'U0ADA' }),
  'card-replaced': card({ replaces: OLD_CARD }),
  'card-bare': card({ build: BARE, history: [], durationMs: null }),
  'card-no-branch': card({ build: { ...WEB, branch: null } }),
  'card-no-commit': card({ build: { ...WEB, commit: null, commitUrl: null } }),
  'card-commit-without-link': card({ build: { ...WEB, commitUrl: null } }),
  'card-link-without-commit': card({ build: { ...WEB, commit: null } }),
  'card-no-message': card({ build: { ...WEB, message: null } }),
  'card-no-committer': card({ build: { ...WEB, committer: null } }),
  'card-no-build-link': card({ build: { ...WEB, buildUrl: null } }),
  'card-end-only': card({ history: [{ what: 'ended', at: ENDED_AT }], durationMs: null }),
  'card-polled': card({
    history: [
      { what: 'started', at: STARTED_AT },
      { what: 'ended', at: ENDED_AT },
      { what: 'polled', at: ENDED_AT + 3 * 60 * 60_000 },
    ],
  }),
  'card-hostile': card({ build: HOSTILE }),
  'card-hostile-word': card({ shown: 'unknown', word: '<!channel> *x*', build: HOSTILE }),
  'card-rtl-and-cjk': card({ build: RTL_AND_CJK }),
  'card-long': card({ build: { ...WEB, branch: 'feature/'.repeat(40), message: 'very '.repeat(200) } }),
  'reply-attempt-2': reply({ attempt: 2, shown: 'passed' }),
  'reply-late': reply({ isLate: true }),
  'reply-mention': reply({ mention: 'U0ADA' }),
  'reply-broadcast': reply({ mention: 'U0ADA', broadcast: true }),
  'reply-fixed-broadcast': reply({ shown: 'fixed', recovery: RECOVERY, broadcast: true }),
  'reply-fixed-at-least': reply({ shown: 'fixed', recovery: { ...RECOVERY, atLeast: true } }),
  'reply-bare': reply({ build: BARE, durationMs: null, broadcast: true }),
  'reply-hostile': reply({ build: HOSTILE, broadcast: true }),
  'reply-rtl-and-cjk': reply({ build: RTL_AND_CJK, broadcast: true }),
  ...Object.fromEntries(STAGES.map(([stage, code]) => [`card-asked-${stage}`, askedCard(stage, code)])),
  ...Object.fromEntries(ALL_MISSING.map((why) => [`card-missing-${why}`, missingCard(why)])),
  'card-stop': card({ ...RUNNING, offers: ['stop'] }),
  'card-stop-bare': card({ ...RUNNING, build: BARE, offers: ['stop'], ref: '7/9.1' }),
  'card-stop-hostile': card({ ...RUNNING, build: HOSTILE, offers: ['stop'] }),
  'card-stop-rtl-and-cjk': card({ ...RUNNING, build: RTL_AND_CJK, offers: ['stop'] }),
  'card-stop-long': card({ ...RUNNING, build: { ...WEB, branch: 'feature/'.repeat(40) }, offers: ['stop'] }),
  'card-stop-refused': card({
    ...RUNNING,
    offers: ['stop'],
    asked: { action: 'stop', by: 'U0LIN', stage: 'refused', code: 'bad-request' },
  }),
  'card-restart': card({ offers: ['restart'] }),
  'card-restart-first': card({
    shown: 'infrastructure_failure',
    word: 'infrastructure_failure',
    offers: ['restart'],
  }),
  'card-restart-without-link': card({ build: { ...WEB, buildUrl: null }, offers: ['restart'] }),
  'card-restarted': card({
    ...RUNNING,
    attempt: 2,
    ref: '41/512.2',
    offers: ['stop'],
    asked: { action: 'restart', by: 'U0LIN', stage: 'confirmed', code: null },
  }),
  ...Object.fromEntries(
    STAGES.flatMap(([stage, code]) =>
      (['stop', 'restart'] as const).map((action) => [`ask-${action}-${stage}`, ask({ action, stage, code })]),
    ),
  ),
  ...Object.fromEntries(
    REFUSALS.map((code) => [`ask-refused-${code}`, ask({ action: 'restart', stage: 'refused', code })]),
  ),
  'ask-stopped': ask({ stage: 'confirmed', outcome: { shown: 'stopped', buildId: '512', attempt: 1 } }),
  'ask-stop-came-late': ask({ stage: 'confirmed', outcome: { shown: 'passed', buildId: '512', attempt: 1 } }),
  'ask-restarted': ask({
    action: 'restart',
    stage: 'confirmed',
    outcome: { shown: 'started', buildId: '512', attempt: 2 },
  }),
  'ask-restarted-as-another': ask({
    action: 'restart',
    stage: 'confirmed',
    outcome: { shown: 'started', buildId: '513', attempt: 2 },
  }),
  'ask-hostile': ask({
    by: '<!channel>',
    buildId: '<!here>',
    stage: 'refused',
    code: '<!everyone>',
    outcome: { shown: 'started', buildId: '<!channel>', attempt: 2 },
    action: 'restart',
  }),
  notice: notice(),
  'notice-one': notice({ ignored: 0, blocked: 1, builds: [{ ...API, shown: 'blocked' }] }),
  'notice-more': notice({
    ignored: 20,
    blocked: 0,
    builds: notice().builds.map((one) => ({ ...one, shown: 'ignored' })),
  }),
  'notice-hostile': notice({ ignored: 1, blocked: 0, builds: [{ ...HOSTILE, shown: 'ignored' }] }),
}

function askedCard(stage: Asked['stage'], code: string | null): CardView {
  return card({ asked: { action: 'restart', by: 'U0LIN', stage, code } })
}

function missingCard(why: Missing): CardView {
  const action = why === 'no-v2' || why === 'no-build-uuid' ? 'stop' : 'restart'
  return card({ ...(action === 'stop' ? RUNNING : {}), missing: { action, why } })
}

function cardOf(shown: Shown, word: string): CardView {
  return card({ shown, word, history: historyOf(shown), ...recoveryOf(shown), ...durationOf(shown) })
}

function historyOf(shown: Shown): CardView['history'] {
  const started = { what: 'started', at: STARTED_AT } as const
  if (shown === 'started') return [started]
  if (shown === 'waiting') return [{ what: 'waiting', at: STARTED_AT }]
  if (shown === 'unknown') return [started, { what: 'heard', at: ENDED_AT }]
  if (shown === 'ignored' || shown === 'blocked') return [{ what: 'ended', at: ENDED_AT }]
  return [started, { what: 'ended', at: ENDED_AT }]
}

function durationOf(shown: Shown) {
  const untimed: readonly Shown[] = ['started', 'waiting', 'unknown', 'ignored', 'blocked']
  return untimed.includes(shown) ? { durationMs: null } : {}
}

function recoveryOf(shown: Shown) {
  return shown === 'fixed' ? { recovery: RECOVERY } : {}
}
