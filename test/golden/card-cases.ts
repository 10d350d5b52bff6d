import { CAST } from '../../packages/demo/src/samples/cast.ts'
import { digestOf, NO_LISTS, quietDigest } from '../../packages/demo/src/samples/digests.ts'
import { NO_FAILURE } from '../../src/domain/builds/failure.ts'
import { ACCOUNT_STATUSES } from '../../src/domain/builds/status.ts'
import type { MissingCapability } from '../../src/domain/cards/capabilities.ts'
import type { ShownRequest, CardView, NoteView, Shown, View } from '../../src/domain/cards/view.ts'
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
  STREAK,
  reply,
  tests,
  annotated,
  hostileTests,
  RTL_AND_CJK,
  STARTED_AT,
  WEB,
} from '../slack/messages/cast.ts'

const RUNNING = {
  shown: 'started',
  word: 'initiated',
  history: [{ what: 'started', at: STARTED_AT }],
  durationMs: null,
} as const

const ALL_NOTES = [
  ['taken', 'Somebody is on a red branch.'],
  ['handed', 'Somebody hands a red branch over.'],
  ['snoozed', 'Somebody snoozes reminders of a red branch for a day.'],
  ['let-go', 'Somebody lets a red branch go.'],
  ['left', 'The person who was on a red branch has left the workspace.'],
] as const

const noted = (what: NoteView['what']): NoteView => ({
  kind: 'note',
  what,
  by: 'U0LIN',
  to: what === 'handed' ? 'U0ADA00001' : null,
  until: what === 'let-go' || what === 'left' ? null : ENDED_AT + (what === 'snoozed' ? 86_400_000 : 3_600_000),
  at: ENDED_AT,
})

const REMINDER: View = {
  kind: 'reminder',
  project: 'acme/web',
  branch: 'main',
  forMs: 7_200_000,
  builds: 3,
  broadcast: true,
}

/** Each state of a request, with what CI answered if it answered anything. */
const STAGES = ALL_STAGES.map((stage) => [stage, stage === 'refused' ? 'not-found' : null] as const)

const REFUSALS = [
  ['bad-request', 'it does not take the request'],
  ['not-found', 'it no longer has this build'],
  ['unauthorized', 'it does not know the bot'],
  ['forbidden', 'the bot lacks the right'],
  ['rate-limited', 'it was asked too often'],
  ['unreachable', 'it was not there'],
  ['timeout', 'it did not answer in time'],
  ['new', 'it said something that nobody knows'],
] as const

/** A card is edited as the build goes on; a reply reports that an attempt has ended. */
const SHOWN_WHEN: Record<Shown, { card: string; reply: string }> = {
  requested: {
    card: 'Somebody restarted a build, and CI has not shown that it runs.',
    reply: 'A build is told of that was requested.',
  },
  queued: { card: 'A build is queued.', reply: 'A build is told of that is queued.' },
  started: { card: 'A build runs.', reply: 'A build is told of that runs.' },
  waiting: { card: 'A build waits: not started yet, or for an approval.', reply: 'A build is told of that waits.' },
  passed: { card: 'A build has passed.', reply: 'A run has passed.' },
  fixed: { card: 'A build has passed after its branch was red.', reply: 'A run has passed after its branch was red.' },
  flaky: {
    card: 'A build has passed on its second attempt: the same commit had failed before.',
    reply: 'A second attempt has passed; the first one had failed.',
  },
  failed: { card: 'A build has failed.', reply: 'A run has failed.' },
  infrastructure_failure: { card: 'A build machine broke.', reply: 'The machine of a run broke.' },
  stopped: { card: 'A build was stopped.', reply: 'A run was stopped.' },
  ignored: {
    card: 'CI did not build a commit, since the monthly limit was reached; its card was there before.',
    reply: 'A run was not built, since the monthly limit was reached.',
  },
  blocked: {
    card: 'CI blocked a build, since it used too much; its card was there before.',
    reply: 'A run was blocked, since it used too much.',
  },
  quota_exceeded: {
    card: 'A pipeline of GitLab was blocked, since no compute minutes are left; its card was there before.',
    reply: 'A pipeline was blocked, since no compute minutes are left.',
  },
  skipped: {
    card: 'A build was skipped; its card was there before.',
    reply: 'A run was skipped.',
  },
  unknown: {
    card: 'CI says a word that Buildline does not know: the card shows it as it is.',
    reply: 'A run ended in a word that Buildline does not know.',
  },
}

const STAGE_WHEN: Record<ShownRequest['stage'], string> = {
  asked: 'CI is being asked',
  confirmed: 'CI has done it',
  refused: 'CI refused',
  unclear: 'it is not clear whether CI heard it',
  unconfirmed: 'CI did not say in time what came of it',
}

const MISSING_WHEN: Record<MissingCapability, string> = {
  'no-github': 'There is no token for GitHub.',
  'no-gitlab': 'There is no token for GitLab.',
  'no-v2': 'the v2 interface is not configured, which stops builds',
  'no-legacy': 'the legacy interface is not configured, which restarts builds',
  'no-build-uuid': "the build's uuid is not known",
  'no-build-number': 'CI restarts a build by its number, and its id is a UUID',
  'pro-project': 'CI restarts no builds of Pro projects',
  'project-unknown': 'CI does not list the project',
  'not-reviewer': "the owner of the token is not one of the environment's reviewers",
}

export interface GoldenCase {
  /** one sentence: when somebody meets it */
  when: string
  view: View
}

const told = (when: string, view: View): GoldenCase => ({ when, view })

/** Every message that a person may see, by the name of its file. */
export const GOLDEN_CASES: Record<string, GoldenCase> = {
  ...Object.fromEntries(
    ALL_SHOWN.map(({ shown, word }) => [`card-${shown}`, told(SHOWN_WHEN[shown].card, cardOf(shown, word))]),
  ),
  ...Object.fromEntries(
    ALL_SHOWN.map(({ shown }) => [`reply-${shown}`, told(SHOWN_WHEN[shown].reply, reply({ shown, ...pastOf(shown) }))]),
  ),
  'card-attempt-2': told('A build was run again, and the second run has failed too.', card({ attemptNumber: 2 })),
  'card-still-failing': told('The third build in a row has failed on the branch.', card({ streak: STREAK })),
  'card-born-red-mention': told(
    'The first delivery of a build is its failure: the card itself mentions the committer, who has claimed the name.',
    card({ mention: 'U0ADA' }),
  ),
  'card-born-red-unclaimed': told(
    "The first that is heard of a build is its failure, and nobody has claimed the committer's name: the card asks whose it is.",
    card({ claim: '41/512.1', offers: ['restart'] }),
  ),
  'card-born-red-proposed': told(
    "The same, where the commit's author proposes whose name it is: the card asks that person.",
    card({ claim: '41/512.1', proposed: 'U0ADA', offers: ['restart'] }),
  ),
  'card-replaced': told(
    'Slack no longer lets the old card be edited: a new one replaces it and links to it.',
    card({ replaces: OLD_CARD }),
  ),
  'card-bare': told('CI left out all that it may leave out.', card({ build: BARE, history: [], durationMs: null })),
  'card-no-branch': told('CI names no branch.', card({ build: { ...WEB, branch: null } })),
  'card-no-commit': told('CI names no commit.', card({ build: { ...WEB, commit: null, commitUrl: null } })),
  'card-commit-without-link': told(
    'CI names the commit, but not its address.',
    card({ build: { ...WEB, commitUrl: null } }),
  ),
  'card-link-without-commit': told(
    'CI gives the address of the commit, but not its name.',
    card({ build: { ...WEB, commit: null } }),
  ),
  'card-no-message': told('The commit has no message.', card({ build: { ...WEB, message: null } })),
  'card-no-committer': told('CI names no committer.', card({ build: { ...WEB, committer: null } })),
  'card-no-build-link': told(
    'CI gives no address of the build, so there is no button to open it.',
    card({ build: { ...WEB, buildUrl: null } }),
  ),
  'card-end-only': told(
    'Only the end of the build was delivered.',
    card({ history: [{ what: 'ended', at: ENDED_AT }], durationMs: null }),
  ),
  'card-polled': told(
    'The end was not delivered: Buildline asked CI.',
    card({
      history: [
        { what: 'started', at: STARTED_AT },
        { what: 'ended', at: ENDED_AT },
        { what: 'snapshot', at: ENDED_AT + 60_000 },
      ],
    }),
  ),
  'card-told-late': told(
    'The build was never delivered: Buildline found it when it asked CI, long after.',
    card({
      history: [
        { what: 'started', at: STARTED_AT },
        { what: 'late', at: ENDED_AT },
      ],
    }),
  ),
  'card-hostile': told(
    'Names and messages try to mention, link and format: they are shown as they were typed.',
    card({ build: HOSTILE }),
  ),
  'card-hostile-word': told(
    'CI sends an unknown status that tries to mention the channel.',
    card({ shown: 'unknown', word: '<!channel> *x*', build: HOSTILE }),
  ),
  'card-rtl-and-cjk': told(
    'Names are written from right to left, or in Chinese characters.',
    card({ build: RTL_AND_CJK }),
  ),
  'card-long': told(
    'The branch and the message are too long for a card: they are cut visibly.',
    card({ build: { ...WEB, branch: 'feature/'.repeat(40), message: 'very '.repeat(200) } }),
  ),
  'card-tests': told('A build failed, and a build step reported its tests.', card({ failures: tests() })),
  'card-tests-same': told(
    'The tests failed that had failed in the build before, more than the card names.',
    card({ failures: tests({ failed: 12, isSame: true }), streak: STREAK, offers: ['restart'] }),
  ),
  'card-tests-and-jobs': told(
    'The source names the jobs that failed, and a build step reported one test without its name.',
    card({ failedJobs: ['test / unit'], failures: tests({ tests: 1, failed: 1, named: [] }) }),
  ),
  'card-tests-hostile': told(
    'The names of failed tests try to mention, link and format.',
    card({ failures: hostileTests() }),
  ),
  'card-failures': told(
    'The source was asked what failed: jobs wrote annotations about lines of files. Nobody is on the branch.',
    card({
      failures: annotated(),
      offers: ['restart'],
      ownership: { id: '7', owner: null, snoozedUntil: null },
    }),
  ),
  'card-failures-same': told(
    'The same failed as in the build before.',
    card({ failures: annotated({ isSame: true }), streak: STREAK }),
  ),
  'reply-failures': told(
    'The source was asked what failed: places in files, and the end of the log of a job that wrote none.',
    annotated({ log: ['npm error code ERESOLVE', 'npm error ERESOLVE could not resolve', 'npm error peer react@"^18" from @acme/ui@2.1.0'] }),
  ),
  'reply-tests': told(
    'A build step reported which tests failed, and sent the last lines of its log.',
    tests({ log: ['npm test', '', 'Tests: 3 failed, 409 passed'] }),
  ),
  'reply-tests-same': told(
    'The second attempt failed in the test that had failed in the build before.',
    tests({ attemptNumber: 2, failed: 1, named: tests().named.slice(1, 2), isSame: true }),
  ),
  'reply-tests-long': told(
    'More tests failed than a reply names, and their names, messages and log are too long for it.',
    tests({
      failed: 57,
      named: Array.from({ length: 10 }, (_, n) => ({
        ...NO_FAILURE,
        test: `${n} ${'&'.repeat(290)}`,
        message: '<'.repeat(300),
        isNew: true,
      })),
      log: Array.from({ length: 20 }, (_, n) => `${n} ${'x>'.repeat(140)}`),
    }),
  ),
  'reply-tests-hostile': told('Failed tests, and a log, that try to mention, link and format.', hostileTests()),
  'reply-attempt-2': told('A second run has passed.', reply({ attemptNumber: 2, shown: 'passed' })),
  'reply-late': told('An older run of the commit ended after a newer one had begun.', reply({ isLate: true })),
  'reply-told-late': told(
    'The end was never delivered: Buildline found it when it asked CI, long after.',
    reply({ lateEnd: ENDED_AT }),
  ),
  'reply-mention': told(
    'A build failed, and its committer has claimed the name: the thread mentions them.',
    reply({ mention: 'U0ADA' }),
  ),
  'reply-unclaimed': told(
    'A build failed whose committer nobody has claimed: whoever it is can do so by a button.',
    reply({ claim: '41/512.1', broadcast: true }),
  ),
  'reply-proposed': told(
    "The same, where the commit's author proposes whose name it is: the reply asks that person.",
    reply({ claim: '41/512.1', proposed: 'U0ADA', broadcast: true }),
  ),
  'reply-broadcast': told(
    'A build failed, and its card existed before: the reply is also sent to the channel.',
    reply({ mention: 'U0ADA', broadcast: true }),
  ),
  'reply-again': told(
    'The commit runs again: the line in the channel says so.',
    reply({ later: { shown: 'started', attemptNumber: 2 } }),
  ),
  'reply-then-flaky': told(
    'It has passed: the same line says so, and no other message is sent to the channel.',
    reply({ later: { shown: 'flaky', attemptNumber: 2 } }),
  ),
  'reply-then-failed': told(
    'It has failed again, which the same line says too.',
    reply({ later: { shown: 'failed', attemptNumber: 2 } }),
  ),
  'reply-then-failed-after-success': told(
    'A commit that passed on a later attempt has failed again.',
    reply({ shown: 'flaky', attemptNumber: 2, later: { shown: 'failed', attemptNumber: 3 } }),
  ),
  'reply-then-hostile': told(
    'The same, of a build whose names try to mention, link and format.',
    reply({ build: HOSTILE, claim: '41/512.1', later: { shown: 'infrastructure_failure', attemptNumber: 2 } }),
  ),
  'reply-fixed-broadcast': told(
    'A branch is fixed, and its card existed before: the reply is also sent to the channel.',
    reply({ shown: 'fixed', streak: STREAK, broadcast: true }),
  ),
  'reply-fixed-at-least': told(
    'A branch is fixed that was red for longer than the history that is kept.',
    reply({ shown: 'fixed', streak: { ...STREAK, atLeast: true } }),
  ),
  'reply-bare': told(
    'A build failed, and CI left out everything optional.',
    reply({ build: BARE, durationMs: null, broadcast: true }),
  ),
  'reply-hostile': told(
    'A build failed whose names try to mention, link and format.',
    reply({ build: HOSTILE, broadcast: true, claim: '41/512.1' }),
  ),
  'reply-rtl-and-cjk': told(
    'A build failed whose names are written from right to left, or in Chinese characters.',
    reply({ build: RTL_AND_CJK, broadcast: true }),
  ),
  ...Object.fromEntries(
    STAGES.map(([stage, code]) => [
      `card-asked-${stage}`,
      told(`Somebody asked to restart the build, and ${STAGE_WHEN[stage]}.`, askedCard(stage, code)),
    ]),
  ),
  'card-gates': told(
    'A run waits for environments: one with reviewers whose names try to format, and one with a timer.',
    card({
      shown: 'waiting',
      history: historyOf('waiting'),
      durationMs: null,
      offers: ['approve', 'reject', 'stop'],
      gates: [
        {
          kind: 'environment',
          id: '7',
          name: 'production *eu*',
          reviewers: ['@ada', 'team/<!channel>'],
          isOurs: true,
          until: null,
        },
        { kind: 'environment', id: '8', name: 'canary', reviewers: [], isOurs: false, until: ENDED_AT },
      ],
    }),
  ),
  'card-red': told(
    'A branch is red, and nobody is on it.',
    card({ streak: STREAK, ownership: { id: '7', owner: null, snoozedUntil: null } }),
  ),
  'card-red-owned': told(
    'A branch is red, somebody is on it, and reminders are snoozed.',
    card({
      streak: STREAK,
      ownership: {
        id: '7',
        owner: { user: 'U0LIN', since: ENDED_AT, until: ENDED_AT + 3_600_000 },
        snoozedUntil: ENDED_AT + 86_400_000,
      },
    }),
  ),
  ...Object.fromEntries(ALL_NOTES.map(([what, when]) => [`note-${what}`, told(when, noted(what))])),
  'note-taken-over': told('Somebody takes a red branch over.', { ...noted('taken'), from: 'U0ADA00001' }),
  'note-hostile': told('The person is not a Slack user: nobody is mentioned.', {
    ...noted('handed'),
    by: '<!channel>',
    to: '<!here>',
  }),
  'note-reminder': told('A channel is reminded of a red branch that nobody is on, for the first time.', REMINDER),
  'note-reminder-hostile': told('The branch of a reminder has a hostile name.', {
    ...REMINDER,
    project: HOSTILE.project,
    branch: HOSTILE.branch,
  }),
  ...Object.fromEntries(
    ALL_MISSING.map((why) => [
      `card-missing-${why}`,
      told(`A button is missing, and the card says why: ${MISSING_WHEN[why]}.`, missingCard(why)),
    ]),
  ),
  'card-stop': told(
    'A build runs that can be stopped: Stop asks before it is sent.',
    card({ ...RUNNING, offers: ['stop'] }),
  ),
  'card-stop-bare': told(
    'A build runs that can be stopped, and CI names no branch and no commit of it.',
    card({ ...RUNNING, build: BARE, offers: ['stop'], ref: '7/9.1' }),
  ),
  'card-stop-hostile': told(
    'A build runs that can be stopped, and its names try to format the question.',
    card({ ...RUNNING, build: HOSTILE, offers: ['stop'] }),
  ),
  'card-stop-rtl-and-cjk': told(
    'A build runs that can be stopped, and its names are written from right to left.',
    card({ ...RUNNING, build: RTL_AND_CJK, offers: ['stop'] }),
  ),
  'card-stop-long': told(
    'A build runs that can be stopped, and its names are longer than the question takes.',
    card({ ...RUNNING, build: { ...WEB, branch: 'feature/'.repeat(40) }, offers: ['stop'] }),
  ),
  'card-stop-refused': told(
    'CI refused to stop the build: it can be asked again.',
    card({
      ...RUNNING,
      offers: ['stop'],
      request: { action: 'stop', by: 'U0LIN', stage: 'refused', code: 'bad-request' },
    }),
  ),
  'card-restart': told('A build has failed that can be restarted.', card({ offers: ['restart'] })),
  'card-restart-first': told(
    "A build machine broke: that is nobody's fault, and Restart is offered first.",
    card({
      shown: 'infrastructure_failure',
      word: 'infrastructure_failure',
      offers: ['restart'],
    }),
  ),
  'card-restart-without-link': told(
    'A build can be restarted, and CI gives no address of it.',
    card({ build: { ...WEB, buildUrl: null }, offers: ['restart'] }),
  ),
  'card-restarted': told(
    'Somebody restarted the build: attempt 2 is running and can be stopped.',
    card({
      ...RUNNING,
      attemptNumber: 2,
      ref: '41/512.2',
      offers: ['stop'],
      request: { action: 'restart', by: 'U0LIN', stage: 'confirmed', code: null },
    }),
  ),
  ...Object.fromEntries(
    STAGES.flatMap(([stage, code]) =>
      (['stop', 'restart'] as const).map((action) => [
        `ask-${action}-${stage}`,
        told(`Somebody asked to ${action} the build, and ${STAGE_WHEN[stage]}.`, ask({ action, stage, code })),
      ]),
    ),
  ),
  ...Object.fromEntries(
    REFUSALS.map(([code, why]) => [
      `ask-refused-${code}`,
      told(`CI did not restart the build: ${why}.`, ask({ action: 'restart', stage: 'refused', code })),
    ]),
  ),
  'ask-stopped': told(
    'CI has stopped the build, as requested.',
    ask({ stage: 'confirmed', outcome: { shown: 'stopped', buildId: '512', attemptNumber: 1 } }),
  ),
  'ask-stop-came-late': told(
    'The build had passed before CI could stop it.',
    ask({ stage: 'confirmed', outcome: { shown: 'passed', buildId: '512', attemptNumber: 1 } }),
  ),
  'ask-restarted': told(
    'The attempt that somebody requested has started.',
    ask({
      action: 'restart',
      stage: 'confirmed',
      outcome: { shown: 'started', buildId: '512', attemptNumber: 2 },
    }),
  ),
  'ask-restarted-as-another': told(
    'The attempt that somebody requested has started, as a build with its own number.',
    ask({
      action: 'restart',
      stage: 'confirmed',
      outcome: { shown: 'started', buildId: '513', attemptNumber: 2 },
    }),
  ),
  'ask-approve-others': told(
    "The answer to an approval was lost, and the source shows somebody else's.",
    ask({ action: 'approve', source: 'github', gate: 'production', stage: 'unconfirmed', code: 'others' }),
  ),
  'ask-approve-not-decided': told(
    'The answer to an approval was lost, and the source shows no decision.',
    ask({ action: 'approve', source: 'gitlab', gate: 'production', stage: 'unconfirmed', code: 'not-decided' }),
  ),
  'ask-hostile': told(
    "CI's own words try to mention the channel: they appear as they are.",
    ask({
      by: '<!channel>',
      buildId: '<!here>',
      stage: 'refused',
      code: '<!everyone>',
      outcome: { shown: 'started', buildId: '<!channel>', attemptNumber: 2 },
      action: 'restart',
    }),
  ),
  notice: told(
    'The account could not run some builds today: each channel gets one notice a day, which is edited as more builds follow.',
    notice(),
  ),
  'notice-one': told(
    'The account could not run one build today.',
    notice({ ignored: 0, blocked: 1, builds: [{ ...API, shown: 'blocked' }] }),
  ),
  'notice-minutes': told(
    'Builds of GitLab could not run today, since no compute minutes are left.',
    notice({
      ignored: 0,
      quota_exceeded: 1,
      builds: [
        { ...API, shown: 'blocked' },
        { ...WEB, shown: 'quota_exceeded' },
      ],
    }),
  ),
  'notice-more': told(
    'The account could not run more builds today than the notice lists.',
    notice({
      ignored: 20,
      blocked: 0,
      builds: notice().builds.map((one) => ({ ...one, shown: 'ignored' })),
    }),
  ),
  'notice-hostile': told(
    'The account could not run a build whose names try to mention, link and format.',
    notice({ ignored: 1, blocked: 0, builds: [{ ...HOSTILE, shown: 'ignored' }] }),
  ),
  digest: told("A channel's weekly digest.", digestOf()),
  'digest-daily': told(
    'The daily digest of one project. Some of its builds are no longer kept, and the chart could not be drawn.',
    digestOf({
      about: 'acme/web',
      every: 'day',
      firstDay: '2026-11-24',
      lastDay: '2026-11-24',
      since: STARTED_AT,
      before: null,
      builds: 1,
      passed: 1,
      red: NO_LISTS,
      redNow: NO_LISTS,
      picture: null,
    }),
  ),
  'digest-worse': told(
    'A digest of a week in two months: fewer builds passed than in the week before.',
    digestOf({ about: null, firstDay: '2026-11-30', lastDay: '2026-12-06', before: { builds: 100, passed: 95 } }),
  ),
  'digest-quiet': told('A week without a build; two branches are still red.', quietDigest()),
  'digest-hostile': told(
    'A digest whose names try to mention, link and format.',
    digestOf({ about: HOSTILE.project }, { ...CAST, project: HOSTILE.project, branch: HOSTILE.branch ?? '' }),
  ),
}

function askedCard(stage: ShownRequest['stage'], code: string | null): CardView {
  return card({ request: { action: 'restart', by: 'U0LIN', stage, code } })
}

function missingCard(why: MissingCapability): CardView {
  const action = why === 'no-v2' || why === 'no-build-uuid' ? 'stop' : 'restart'
  return card({ ...(action === 'stop' ? RUNNING : {}), missing: { action, why } })
}

function cardOf(shown: Shown, word: string): CardView {
  return card({ shown, word, history: historyOf(shown), ...pastOf(shown), ...durationOf(shown) })
}

function historyOf(shown: Shown): CardView['history'] {
  const started = { what: 'started', at: STARTED_AT } as const
  if (shown === 'started') return [started]
  if (shown === 'waiting') return [{ what: 'waiting', at: STARTED_AT }]
  if (shown === 'unknown') return [started, { what: 'received', at: ENDED_AT }]
  if (ACCOUNT_STATUSES.some((status) => status === shown)) return [{ what: 'ended', at: ENDED_AT }]
  return [started, { what: 'ended', at: ENDED_AT }]
}

function durationOf(shown: Shown) {
  const untimed: readonly Shown[] = ['started', 'waiting', 'unknown', ...ACCOUNT_STATUSES]
  return untimed.includes(shown) ? { durationMs: null } : {}
}

function pastOf(shown: Shown) {
  if (shown === 'flaky') return { attemptNumber: 2, streak: STREAK }
  return shown === 'fixed' ? { streak: STREAK } : {}
}
