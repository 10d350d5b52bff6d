import type { DoctorOutcome } from '../../../../src/features/doctor/examine.ts'
import type { MeOutcome } from '../../../../src/features/people/people.ts'
import { answerAction } from '../../../../src/features/builds/action-messages.ts'
import type { Answer, AnswerContext } from '../../../../src/slack/messages/answer.ts'
import type { StreakOutcome } from '../../../../src/features/streaks/action.ts'
import { answerStreak, answerRed } from '../../../../src/features/streaks/messages.ts'
import { answerBadge } from '../../../../src/features/badge/messages.ts'
import { answerDoctor } from '../../../../src/features/doctor/messages.ts'
import { answerDryRun } from '../../../../src/features/subscriptions/dry-run-messages.ts'
import {
  answerFault,
  answerOld,
  answerNotOpened,
  answerOldForm,
  answerOldSearch,
  answerSlow,
} from '../../../../src/features/kit/fault-messages.ts'
import type { FlakyOutcome } from '../../../../src/features/flaky/flaky.ts'
import { answerFlaky } from '../../../../src/features/flaky/messages.ts'
import type { DigestOutcome } from '../../../../src/features/subscriptions/digest.ts'
import { answerDigest } from '../../../../src/features/subscriptions/digest-command.ts'
import { answerHelp, answerHelpAbout } from '../../../../src/features/help/slack.ts'
import type { CommandRow } from '../../../../src/features/kit/command.ts'
import { answerList } from '../../../../src/features/list/messages.ts'
import { answerMe } from '../../../../src/features/people/messages.ts'
import { answerNotAllowed } from '../../../../src/features/kit/not-allowed.ts'
import { answerCreate, answerEdit, answerReset } from '../../../../src/features/projects/messages.ts'
import { answerProject } from '../../../../src/features/projects/show-messages.ts'
import { answerImported, answerProposal } from '../../../../src/features/subscriptions/import-messages.ts'
import type { ImportedOutcome, ProposalOutcome } from '../../../../src/features/subscriptions/import.ts'
import { answerRun } from '../../../../src/features/run/messages.ts'
import type { RunOutcome } from '../../../../src/features/run/run.ts'
import { answerRules } from '../../../../src/features/subscriptions/rules-messages.ts'
import { answerNameless, answerTooLittle, answerTooMuch, answerUnknown } from '../../../../src/features/kit/slips.ts'
import { answerFound, answerRunning, answerStatus } from '../../../../src/features/builds/status-messages.ts'
import { answerMisread, answerSubscribe, answerUnsubscribe } from '../../../../src/features/subscriptions/messages.ts'
import { answerWhy } from '../../../../src/features/why/messages.ts'
import { buildOf, CAST, REFERENCE, type Cast } from './cast.ts'
import { imports, proposals } from './imports.ts'
import { acts, runnings } from './acts.ts'
import { badges } from './badges.ts'
import { streaks, redBuilds } from './streaks.ts'
import { doctors } from './doctors.ts'
import { digests, flakies, unclearTimes } from './digests.ts'
import { lists } from './lists.ts'
import { REQUESTER, mes } from './mes.ts'
import { creations, edits, resets, shownProjects } from './projects.ts'
import { runs } from './runs.ts'
import { statuses } from './statuses.ts'
import { dryRuns, rulings } from './rules.ts'
import { subscribes, unsubscribes } from './subscriptions.ts'
import { whys } from './whys.ts'
import { refusals, type Case } from './words.ts'
import type { ActionOutcome } from '../../../../src/features/builds/action.ts'
import type { BadgeOutcome } from '../../../../src/features/badge/badge.ts'
import type { ListOutcome } from '../../../../src/features/list/list.ts'
import type { RunningOutcome, StatusOutcome } from '../../../../src/features/builds/status.ts'
import type { WhyOutcome } from '../../../../src/features/why/why.ts'
import type { CreateOutcome } from '../../../../src/features/projects/create.ts'
import type { EditOutcome } from '../../../../src/features/projects/edit.ts'
import type { ResetOutcome } from '../../../../src/features/projects/reset.ts'
import type { ShowOutcome } from '../../../../src/features/projects/read.ts'
import type { DryRunOutcome } from '../../../../src/features/subscriptions/dry-run.ts'
import type { RulesOutcome } from '../../../../src/features/subscriptions/channel.ts'
import type { SubscribeOutcome, UnsubscribeOutcome } from '../../../../src/features/subscriptions/subscribe.ts'

/** An answer as somebody gets it. */
export interface Sample {
  /** a command's name; `any` for what every command can answer */
  command: string
  /** the outcome's kind */
  kind: string
  when: string
  answer: Answer
}

/** Every ending of every command, in these words from outside. */
export const samplesOf = async (commands: readonly CommandRow[], cast: Cast = CAST): Promise<Sample[]> => [
  ...help(commands),
  ...ofKinds<ListOutcome>('list', lists(cast), (outcome) => answerList(outcome, { reference: REFERENCE })),
  ...ofKinds<StatusOutcome>('status', statuses(cast), (outcome) => answerStatus(outcome, asked('status', cast))),
  ...ofKinds<RunningOutcome>('stop', runnings(cast), answerRunning),
  ...ofKinds<ActionOutcome>('stop', acts(cast, 'stop'), (outcome) => answerAction(outcome, asked('stop', cast))),
  ...ofKinds<ActionOutcome>('restart', acts(cast, 'restart'), (outcome) =>
    answerAction(outcome, asked('restart', cast)),
  ),
  ...ofKinds<RunOutcome>('run', runs(cast), (outcome) => answerRun(outcome, askedOf('run', cast))),
  ...ofKinds<BadgeOutcome>('badge', badges(cast), (outcome) => answerBadge(outcome, asked('badge', cast))),
  ...ofKinds<StreakOutcome>('red', streaks(cast), (outcome) => answerStreak(outcome, asked('red', cast)), 'own'),
  ...reds(cast),
  ...ofKinds<FlakyOutcome>('flaky', flakies(cast), (outcome) => answerFlaky(outcome, askedOf('flaky', cast))),
  ...ofKinds<DigestOutcome>('digest', digests(cast), (outcome) => answerDigest(outcome, { reference: REFERENCE })),
  ...unclearTimes(cast).map(({ command, when, answer }) => one(command, 'not-understood', when, answer)),
  ...ofKinds<WhyOutcome>('why', whys(cast), (outcome) => answerWhy(outcome, asked('why', cast))),
  ...ofKinds<MeOutcome>('me', mes(cast), (outcome) =>
    answerMe(outcome, { by: REQUESTER, reference: REFERENCE, isAdmin: false }),
  ),
  ...ofKinds<SubscribeOutcome>('subscribe', subscribes(cast), (outcome) =>
    answerSubscribe(outcome, askedOf('subscribe', cast)),
  ),
  ...ofKinds<UnsubscribeOutcome>('unsubscribe', unsubscribes(cast), (outcome) =>
    answerUnsubscribe(outcome, askedOf('unsubscribe', cast)),
  ),
  ...ofKinds<ProposalOutcome>('import', proposals(cast), (outcome) => answerProposal(outcome, askedOf('import', cast))),
  ...ofKinds<ImportedOutcome>(
    'import',
    imports(cast),
    (outcome) => answerImported(outcome, askedOf('import', cast)),
    'button',
  ),
  ...ofKinds<RulesOutcome>('rules', rulings(cast), (outcome) => answerRules(outcome, 1)),
  ...ofKinds<DryRunOutcome>('rules', dryRuns(cast), (outcome) => answerDryRun(outcome, askedOf('rules', cast))),
  ...unclearWishes(cast),
  ...ofKinds<DoctorOutcome>('doctor', await doctors(cast), (outcome) =>
    answerDoctor(outcome, { reference: REFERENCE }),
  ),
  ...ofKinds<ShowOutcome>('project', shownProjects(cast), (outcome) =>
    answerProject(outcome, askedOf('project', cast)),
  ),
  ...ofKinds<EditOutcome>('project', edits(cast), (outcome) => answerEdit(outcome, askedOf('project', cast)), 'edit'),
  ...ofKinds<CreateOutcome>(
    'project',
    creations(cast),
    (outcome) => answerCreate(outcome, askedOf('project', cast)),
    'create',
  ),
  ...ofKinds<ResetOutcome>(
    'project',
    resets(cast),
    (outcome) => answerReset(outcome, askedOf('project', cast)),
    'reset',
  ),
  ...any(cast),
]

const askedOf = (command: string, { typed }: Cast): AnswerContext => ({
  command,
  branch: null,
  rest: [typed],
  reference: REFERENCE,
})

const reds = (cast: Cast): Sample[] => {
  const builds = redBuilds(cast)
  return [
    one('red', 'red', 'some branches are red', answerRed({ builds, more: 2 }, ' in all projects')),
    one('red', 'red', 'one branch is red', answerRed({ builds: builds.slice(0, 1), more: 0 }, ' in all projects')),
    one('red', 'red', 'none is', answerRed({ builds: [], more: 0 }, ' in all projects')),
  ]
}

function unclearWishes({ typed }: Cast): Sample[] {
  const readings: readonly [when: string, reading: Parameters<typeof answerMisread>[0]][] = [
    ['a word is nearly one that means something', { kind: 'near', typed, meant: 'failed' }],
    ['no branch can be called so', { kind: 'no-branch', typed, regex: '^release/.*$' }],
    ['two words are at odds', { kind: 'contradiction', one: 'mention', other: 'no-mention' }],
  ]
  return readings.map(([when, reading]) =>
    one('subscribe', 'unclear', when, answerMisread(reading, '/ci subscribe project')),
  )
}

const asked = (command: string, { branch }: Cast): AnswerContext => ({ command, branch, reference: REFERENCE })

function ofKinds<Outcome>(
  command: string,
  cases: Record<string, readonly Case<Outcome>[]>,
  answerTo: (outcome: Outcome) => Answer,
  verb?: string,
): Sample[] {
  return Object.entries(cases).flatMap(([kind, ones]) =>
    ones.map(({ when, outcome }) => ({
      command,
      kind: verb === undefined ? kind : `${verb}-${kind}`,
      when,
      answer: answerTo(outcome),
    })),
  )
}

const help = (commands: readonly CommandRow[]): Sample[] => [
  one('help', 'all', 'no command is named', answerHelp(commands)),
  ...commands.map((row) => one('help', 'one', `${row.name} is named`, answerHelpAbout(row))),
]

function any(cast: Cast): Sample[] {
  const { typed } = cast
  const usage = { usage: '/ci badge project [branch]', example: '/ci badge acme/web' }
  const why = { action: null, reference: REFERENCE }
  return [
    one('any', 'unknown', 'there is no such command', answerUnknown({ typed, nearest: null })),
    one(
      'any',
      'unknown',
      'there is no such command, one is called nearly so',
      answerUnknown({ typed, nearest: 'stop' }),
    ),
    one('any', 'too-much', 'there is a word too many', answerTooMuch({ extra: typed, ...usage })),
    one('any', 'too-little', 'a needed word is missing', answerTooLittle({ missing: 'a project', ...usage })),
    one('any', 'nameless', "a branch's name is empty", answerNameless({ branchOf: typed, ...usage })),
    one('any', 'nameless', "a project's name is empty", answerNameless({ branchOf: null, ...usage })),
    ...refusals(cast)
      .filter(({ outcome }) => NOT_READING.includes(outcome.why))
      .map(({ when, outcome }) => one('any', 'not-allowed', when, answerNotAllowed(outcome, why))),
    ...unknownPersons(cast),
    one('any', 'found', 'one build is looked at', answerFound(buildOf(cast))),
    one('any', 'slow', 'the answer takes longer than 2 s', answerSlow('stop')),
    one('any', 'fault', 'Buildline has a fault', answerFault(REFERENCE)),
    one('any', 'old', 'the button is of an older version', answerOld()),
    one('any', 'old', 'the search is of an older version', answerOldSearch()),
    one('any', 'old', 'the form is of an older version', answerOldForm()),
    one('any', 'not-opened', 'a form is asked for by a mention', answerNotOpened('mention', REFERENCE)),
    one('any', 'not-opened', 'Slack opens the form no more', answerNotOpened('late', REFERENCE)),
  ]
}

const unknownPersons = ({ code }: Cast): Sample[] =>
  [
    ['Slack does not say who asks', code],
    ['Slack lets Buildline ask nothing', 'missing_scope'],
    ['Slack has been asked too much', 'ratelimited'],
    ['a group of the settings is none', 'no_such_subteam'],
    ['Slack does not know who asks', 'user_not_found'],
  ].map(([when, why]) => {
    const unknown = { kind: 'unknown-person', code: why! } as const
    return one('any', 'not-allowed', when!, answerNotAllowed(unknown, { action: null, reference: REFERENCE }))
  })

/** Reading is refused only for these reasons. */
const NOT_READING: readonly string[] = ['outsider', 'deactivated', 'bot']

const one = (command: string, kind: string, when: string, answer: Answer): Sample => ({ command, kind, when, answer })
