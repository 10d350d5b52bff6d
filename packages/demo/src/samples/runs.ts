import type { Run, RunOutcome, InputFault } from '../../../../src/features/run/run.ts'
import type { StartInput } from '../../../../src/sources/source.ts'
import { githubProjectId } from '../../../../src/domain/ids.ts'
import { BUILD_AT, projectOf, type Cast } from './cast.ts'
import { noProject } from './not-found.ts'
import { ciTrouble, CODES, each, refusals, type Cases, type Of } from './words.ts'
import { askedWith, samplesOfKinds } from './sample.ts'
import { answerRun } from '../../../../src/features/run/messages.ts'

export const runSamples = (cast: Cast) =>
  samplesOfKinds<RunOutcome>('run', runs(cast), (outcome) => answerRun(outcome, askedWith('run', cast)))

const INPUT: StartInput = {
  name: 'environment',
  description: 'Where to',
  type: 'text',
  options: ['staging', 'production'],
  initial: null,
  isRequired: true,
  isVariable: false,
}

/** The inputs of a workflow, with a name and words from outside. */
export const inputsOf = ({ typed, message, word }: Cast): StartInput[] => [
  INPUT,
  { ...INPUT, name: typed, description: message, options: [], initial: word, isRequired: false },
  { ...INPUT, name: 'dry', description: null, type: 'boolean', options: ['true', 'false'], isRequired: false },
]

/** What is wrong, as the answer and the form say it. */
export const faultsOf = (cast: Cast, faults: readonly InputFault[]): Of<RunOutcome, 'faults'> => ({
  kind: 'faults',
  project: projectOf(cast.project),
  wanted: { project: cast.project, ref: cast.branch, values: { [cast.typed]: cast.word } },
  offered: {
    kind: 'startable',
    place: { projectId: githubProjectId('1', '2'), project: cast.project, ref: cast.branch },
    inputs: inputsOf(cast),
    takesVariables: false,
  },
  faults,
})

const runOf = ({ project, branch, typed }: Cast): Run => ({
  project,
  source: 'github',
  ref: branch,
  inputs: ['environment', typed],
})

/** Every ending of `/ci run`. */
export function runs(cast: Cast): Cases<RunOutcome> {
  const { project, branch, buildUrl, reason, user, typed, word } = cast
  const run = runOf(cast)
  const fault = (why: InputFault['why'], options: readonly string[] = []) => ({ name: typed, why, options })
  return {
    started: [
      { when: 'its source shows it', outcome: { kind: 'started', run, build: { number: '513', url: buildUrl } } },
      { when: 'its source does not show it yet', outcome: { kind: 'started', run, build: null } },
      {
        when: 'it takes no inputs',
        outcome: { kind: 'started', run: { ...run, inputs: [] }, build: { number: '513', url: null } },
      },
    ],
    unclear: [...each(CODES, (code) => ({ kind: 'unclear', run, code }) as const, ', and may have started it')],
    'ci-refused': [
      ...each(CODES, (code) => ({ kind: 'ci-refused', run, code, reason: null }) as const, ', and has started nothing'),
      {
        when: 'GitLab lets the token start nothing',
        outcome: { kind: 'ci-refused', run: { ...run, source: 'gitlab' }, code: 'forbidden', reason },
      },
    ],
    'asked-already': [
      { when: 'it is being started already', outcome: { kind: 'asked-already', project, by: user, at: BUILD_AT } },
    ],
    faults: [
      {
        when: 'a required input is missing',
        outcome: faultsOf(cast, [{ name: 'environment', why: 'missing', options: [] }]),
      },
      { when: 'no branch was named', outcome: faultsOf(cast, [{ name: '', why: 'no-branch', options: [] }]) },
      { when: 'an input looks like a secret', outcome: faultsOf(cast, [fault('secret')]) },
      {
        when: 'there is no such input',
        outcome: faultsOf(cast, [fault('unknown', ['environment', word]), fault('unknown')]),
      },
      { when: 'a value is not one of the choices', outcome: faultsOf(cast, [fault('choice', [word, 'production'])]) },
      { when: 'a value is not a number', outcome: faultsOf(cast, [fault('number')]) },
    ],
    'not-startable': each(
      {
        'no-ref': 'there is no such branch',
        'no-trigger': 'the workflow has no such event there',
        unreadable: 'its file cannot be read',
      },
      (kind) => ({ kind: 'not-startable', project, why: { kind, ref: branch } }),
    ),
    'cannot-run': each(
      { ci: 'the CI service starts nothing', github: 'GitHub has no token', gitlab: 'GitLab has no token' },
      (source) => ({ kind: 'cannot-run', project, source }),
    ),
    'ci-trouble': [
      ...ciTrouble(cast),
      {
        when: 'the token may not read the file',
        outcome: { kind: 'ci-trouble', code: 'forbidden', reason, source: 'github' },
      },
    ],
    forbidden: refused(cast),
    'unknown-person': [{ when: 'Slack does not say who asks', outcome: { kind: 'unknown-person', code: cast.code } }],
    ...noProject(cast),
  }
}

function refused(cast: Cast): Cases<RunOutcome>['forbidden'] {
  const [first, ...others] = refusals(cast).map(({ when, outcome: permit }) => ({
    when,
    outcome: { kind: 'forbidden', action: 'run', permit } as const,
  }))
  return [first!, ...others]
}
