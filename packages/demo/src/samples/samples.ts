import { answerHelp, answerHelpAbout } from '../../../../src/features/help/slack.ts'
import { answerFound } from '../../../../src/features/builds/status-messages.ts'
import type { CommandRow } from '../../../../src/features/kit/command.ts'
import {
  answerFault,
  answerOld,
  answerNotOpened,
  answerOldForm,
  answerSlow,
} from '../../../../src/features/kit/fault-messages.ts'
import { answerNotAllowed } from '../../../../src/features/kit/not-allowed.ts'
import { answerNameless, answerTooLittle, answerTooMuch, answerUnknown } from '../../../../src/features/kit/slips.ts'
import { actionSamples } from './acts.ts'
import { badgeSamples } from './badge.ts'
import { buildOf, CAST, REFERENCE, type Cast } from './cast.ts'
import { digestSamples } from './digests.ts'
import { doctorSamples } from './doctors.ts'
import { flakySamples } from './flaky.ts'
import { importSamples } from './imports.ts'
import { listSamples } from './lists.ts'
import { peopleSamples } from './mes.ts'
import { projectSamples } from './projects.ts'
import { ruleSamples } from './rules.ts'
import { runSamples } from './runs.ts'
import { sample, type Sample } from './sample.ts'
import { statusSamples } from './statuses.ts'
import { streakSamples } from './streaks.ts'
import { subscriptionSamples } from './subscriptions.ts'
import { whySamples } from './why.ts'
import { refusals } from './words.ts'

/** The samples of each feature. Delete a feature's line together with the feature. */
const SAMPLES: readonly ((cast: Cast) => Sample[] | Promise<Sample[]>)[] = [
  listSamples,
  statusSamples,
  actionSamples,
  runSamples,
  badgeSamples,
  streakSamples,
  flakySamples,
  digestSamples,
  whySamples,
  peopleSamples,
  subscriptionSamples,
  importSamples,
  ruleSamples,
  doctorSamples,
  projectSamples,
]

/** Every ending of every command, in these words from outside. */
export const samplesOf = async (commands: readonly CommandRow[], cast: Cast = CAST): Promise<Sample[]> => [
  ...help(commands),
  ...(await Promise.all(SAMPLES.map(async (samples) => samples(cast)))).flat(),
  ...any(cast),
]

const help = (commands: readonly CommandRow[]): Sample[] => [
  sample('help', 'all', 'no command is named', answerHelp(commands)),
  ...commands.map((row) => sample('help', 'one', `${row.name} is named`, answerHelpAbout(row))),
]

function any(cast: Cast): Sample[] {
  const { typed } = cast
  const usage = { usage: '/ci status project [branch]', example: '/ci status acme/web' }
  const why = { action: null, reference: REFERENCE }
  return [
    sample('any', 'unknown', 'there is no such command', answerUnknown({ typed, nearest: null })),
    sample(
      'any',
      'unknown',
      'there is no such command, one is called nearly so',
      answerUnknown({ typed, nearest: 'stop' }),
    ),
    sample('any', 'too-much', 'there is a word too many', answerTooMuch({ extra: typed, ...usage })),
    sample('any', 'too-little', 'a needed word is missing', answerTooLittle({ missing: 'a project', ...usage })),
    sample('any', 'nameless', "a branch's name is empty", answerNameless({ branchOf: typed, ...usage })),
    sample('any', 'nameless', "a project's name is empty", answerNameless({ branchOf: null, ...usage })),
    ...refusals(cast)
      .filter(({ outcome }) => NOT_READING.includes(outcome.why))
      .map(({ when, outcome }) => sample('any', 'not-allowed', when, answerNotAllowed(outcome, why))),
    sample(
      'any',
      'not-allowed',
      'Slack does not say who asks',
      answerNotAllowed({ kind: 'unknown-person', code: cast.code }, { action: null, reference: REFERENCE }),
    ),
    sample('any', 'found', 'one build is looked at', answerFound(buildOf(cast))),
    sample('any', 'slow', 'the answer takes longer than 2 s', answerSlow('stop')),
    sample('any', 'fault', 'Buildline has a fault', answerFault(REFERENCE)),
    sample('any', 'old', 'the button is of an older version', answerOld()),
    sample('any', 'old', 'the form is of an older version', answerOldForm()),
    sample('any', 'not-opened', 'a form is asked for by a mention', answerNotOpened('mention', REFERENCE)),
    sample('any', 'not-opened', 'Slack opens the form no more', answerNotOpened('late', REFERENCE)),
  ]
}

/** Reading is refused only for these reasons. */
const NOT_READING: readonly string[] = ['outsider', 'deactivated', 'bot']
