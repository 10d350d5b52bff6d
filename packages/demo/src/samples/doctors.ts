import {
  CHECKS,
  type CheckName,
  type DoctorOutcome,
  type CheckResult,
  type Unchecked,
} from '../../../../src/features/doctor/findings.ts'
import { verdictOf } from '../../../../src/features/doctor/checks.ts'
import { invariant } from '../../../../src/lib/assert.ts'
import { BUILD_AT, CHANNEL, FORMER_CHANNEL, PROJECT_UUID, RED_AT, type Cast } from './cast.ts'
import { CODES, each, refusals, type Cases } from './words.ts'

/** Everything that the doctor can find, and its refusals. */
export const doctors = (cast: Cast): Cases<DoctorOutcome> => ({
  findings: [
    { when: 'all is well', outcome: examined(WITH_COUNT.map((check) => [check, fine(check)])) },
    ...each(WHENS, (check) => examined(foundBy(cast)[check].map((what) => [check, what]))),
    {
      when: 'some things could not be looked at',
      outcome: examined([
        ...unchecked('late', 'ci-v2', 'store'),
        ...unchecked('slack-away', 'slack-scopes', 'channels'),
        ...unchecked('ci-away', 'webhook-rules'),
        ...unchecked('no-v2', 'silent-projects'),
        ...unchecked('no-project', 'site'),
        ...unchecked('not-said', 'clock'),
        ...unchecked('fault', 'ci-legacy'),
      ]),
    },
  ],
  forbidden: forbidden(cast),
  'unknown-person': [{ when: 'Slack does not say who asks', outcome: { kind: 'unknown-person', code: cast.code } }],
})

function forbidden(cast: Cast): Cases<DoctorOutcome>['forbidden'] {
  const [first, ...others] = refusals(cast).map(({ when, outcome: permit }) => ({
    when,
    outcome: { kind: 'forbidden' as const, permit },
  }))
  invariant(first, 'somebody is refused')
  return [first, ...others]
}

const examined = (
  found: readonly (readonly [CheckName, CheckResult])[],
): Extract<DoctorOutcome, { kind: 'findings' }> => ({
  kind: 'findings',
  findings: found.map(([check, what]) => ({ check, what, verdict: verdictOf({ check, what }) })),
  tookMs: 800,
})

/** Without the names, which are listed and not counted. */
const WITH_COUNT = CHECKS.filter((check) => check !== 'names')

const COUNTED: readonly CheckName[] = [
  'channels',
  'ci-v2',
  'ci-legacy',
  'github',
  'gitlab',
  'webhook-rules',
  'silent-projects',
]
const fine = (check: CheckName): CheckResult => ({ kind: 'fine', count: COUNTED.includes(check) ? 3 : null })

const unchecked = (why: Unchecked, ...checks: readonly CheckName[]) =>
  checks.map((check) => [check, { kind: 'not-checked', why }] as const)

const WHENS: Record<CheckName, string> = {
  'slack-token': 'Slack does not take the token, or is away',
  'slack-scopes': 'scopes are missing',
  'socket-mode': 'Slack does not take the app token, or there is none',
  clock: 'the clock is off',
  channels: 'channels cannot be told',
  names: 'subscriptions name projects without their source',
  'ci-v2': "CI's v2 interface does not answer as it should",
  'ci-v2-scopes': 'rights are missing',
  'ci-legacy': "CI's legacy interface refuses",
  site: 'the site is another one, or none',
  github: 'GitHub does not show a repository',
  gitlab: 'GitLab does not show a project',
  'webhook-rules': 'projects do not tell Buildline everything',
  'silent-projects': 'projects are not heard of',
  store: 'the database does not do its work',
}

const foundBy = ({ project, other, branch, code, word }: Cast): Record<CheckName, readonly CheckResult[]> => ({
  'slack-token': [
    { kind: 'slack-refuses', code },
    { kind: 'slack-refuses', code: 'account_inactive', said: { event: 'app_uninstalled', at: BUILD_AT } },
    { kind: 'slack-away', code },
  ],
  'slack-scopes': [{ kind: 'scopes-missing', scopes: ['channels:read', 'groups:read'] }],
  'socket-mode': [
    { kind: 'slack-refuses', code: 'invalid_auth' },
    { kind: 'slack-refuses', code: 'missing_scope' },
    { kind: 'socket-trouble', code: 'link_disabled' },
    { kind: 'socket-trouble', code: 'too_many_websockets' },
    { kind: 'socket-trouble', code: 'cut_again' },
    { kind: 'socket-trouble', code },
    { kind: 'events-limited', at: BUILD_AT },
    { kind: 'over-http' },
  ],
  clock: [
    { kind: 'clock-off', ms: 90_000 },
    { kind: 'clock-off', ms: -90_000 },
  ],
  channels: [
    { kind: 'nobody-follows' },
    ...['is_archived', 'is_moved', 'not_in_channel', 'channel_not_found', 'restricted_action', code].map(
      (why): CheckResult => ({
        kind: 'channel-closed',
        channel: CHANNEL,
        code: why,
      }),
    ),
    { kind: 'channel-moved', setting: 'DEFAULT_CHANNEL', former: FORMER_CHANNEL, channel: CHANNEL },
    { kind: 'matches-nothing', channel: CHANNEL, project, branches: [branch], isOfFile: false },
    { kind: 'matches-nothing', channel: CHANNEL, project, branches: [branch, 'f/*'], isOfFile: true },
    { kind: 'slack-refuses', code: 'missing_scope' },
    { kind: 'not-checked', why: 'too-many' },
  ],
  names: [
    { kind: 'name-of-several', name: project, known: ['ci', 'github'], meant: ['github', 'gitlab'], now: null },
    { kind: 'name-of-several', name: other, known: ['ci', 'gitlab'], meant: ['ci', 'github', 'gitlab'], now: null },
    {
      kind: 'names-meant',
      names: [
        { name: project, known: ['github'], meant: ['github', 'gitlab'], now: null },
        { name: other, known: [], meant: ['ci', 'github', 'gitlab'], now: null },
      ],
    },
  ],
  'ci-v2': [
    ...each(CODES, (kind): CheckResult => ({
      kind: 'ci-refuses',
      code: kind,
      scope: 'project.read',
      ...(kind === 'certificate' && { certificate: 'SELF_SIGNED_CERT_IN_CHAIN' }),
    })).map(({ outcome }) => outcome),
    { kind: 'projects-unread', count: 1 },
  ],
  'ci-v2-scopes': [{ kind: 'ci-refuses', code: 'forbidden', scope: 'build.write' }],
  'ci-legacy': [
    { kind: 'ci-refuses', code: 'unauthorized', scope: null },
    { kind: 'ci-refuses', code: 'forbidden', scope: null },
  ],
  site: [{ kind: 'ci-refuses', code: 'not-found', scope: null }, { kind: 'not-configured' }],
  github: [
    { kind: 'host-refuses', host: 'github', name: 'acme/web', code: 'unauthorized', reason: null },
    { kind: 'host-refuses', host: 'github', name: 'acme/web', code: 'not-found', reason: null },
    { kind: 'host-refuses', host: 'github', name: 'acme/web', code: 'timeout', reason: null },
    { kind: 'not-configured' },
  ],
  gitlab: [
    { kind: 'host-refuses', host: 'gitlab', name: 'acme/web', code: 'unauthorized', reason: null },
    { kind: 'host-refuses', host: 'gitlab', name: 'acme/web', code: 'forbidden', reason: 'insufficient_scope' },
  ],
  'webhook-rules': [
    { kind: 'no-webhook-rule', project, uuid: PROJECT_UUID, host: 'ci-bot.example.com' },
    { kind: 'webhook-secret', project: other, uuid: PROJECT_UUID, host: 'ci-bot.example.com' },
    { kind: 'no-webhook-rule', project, uuid: PROJECT_UUID, host: null },
    { kind: 'webhook-secret', project: other, uuid: PROJECT_UUID, host: null },
    { kind: 'webhook-filtered', project, events: ['started', word], branch: null },
    { kind: 'webhook-filtered', project, events: ['started'], branch },
    { kind: 'not-checked', why: 'store-fails' },
  ],
  'silent-projects': [
    { kind: 'silent-project', project, lastAt: RED_AT, builtAt: BUILD_AT },
    { kind: 'silent-project', project: other, lastAt: null, builtAt: null },
  ],
  store: [
    { kind: 'no-database' },
    { kind: 'store-fails', code },
    { kind: 'store-slow', ms: 1_500 },
    { kind: 'disk-full', freeBytes: 50 * 1024 * 1024 },
  ],
})
