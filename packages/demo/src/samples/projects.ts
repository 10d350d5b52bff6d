import type { Difference } from '../../../../src/domain/ci-project/project-change.ts'
import { maskedProject } from '../../../../src/domain/ci-project/masked-project.ts'
import { MASK } from '../../../../src/domain/ci-project/project-fields.ts'
import type { Refused } from '../../../../src/projects/outcomes.ts'
import type { NotSent, SentInVain, ShownProject } from '../../../../src/features/projects/outcomes.ts'
import { BUILD_AT, buildOf, projectOf, type Cast } from './cast.ts'
import { notFound } from './not-found.ts'
import { ciTrouble, CODES, each, refusals, type Cases, type Of } from './words.ts'
import type { CreateOutcome } from '../../../../src/features/projects/create.ts'
import type { EditOutcome } from '../../../../src/features/projects/edit.ts'
import type { ResetOutcome } from '../../../../src/features/projects/reset.ts'
import type { ShowOutcome } from '../../../../src/features/projects/read.ts'
import { askedWith, samplesOfKinds, type Sample } from './sample.ts'
import { answerCreate, answerEdit, answerReset } from '../../../../src/features/projects/messages.ts'
import { answerProject } from '../../../../src/features/projects/show-messages.ts'

export function projectSamples(cast: Cast): Sample[] {
  const context = askedWith('project', cast)
  return [
    ...samplesOfKinds<ShowOutcome>('project', shownProjects(cast), (outcome) => answerProject(outcome, context)),
    ...samplesOfKinds<EditOutcome>('project', edits(cast), (outcome) => answerEdit(outcome, context), 'edit'),
    ...samplesOfKinds<CreateOutcome>('project', creations(cast), (outcome) => answerCreate(outcome, context), 'create'),
    ...samplesOfKinds<ResetOutcome>('project', resets(cast), (outcome) => answerReset(outcome, context), 'reset'),
  ]
}

/** What `/ci project` shows. */
export const shownProjects = (cast: Cast): Cases<ShowOutcome> => ({
  project: [
    { when: 'it is there', outcome: { kind: 'project', shown: shownOf(cast), mayEdit: true } },
    {
      when: 'it is Pro, and says little',
      outcome: { kind: 'project', shown: bare(cast), mayEdit: true },
    },
    {
      when: 'the requester is not an admin',
      outcome: { kind: 'project', shown: bare(cast), mayEdit: false },
    },
  ],
  'no-v2': [{ when: 'the v2 interface is not configured', outcome: { kind: 'no-v2' } }],
  'not-listed': [{ when: 'CI does not list it', outcome: { kind: 'not-listed', project: projectOf(cast.project) } }],
  'ci-trouble': ciTrouble(cast),
  ...notFound(cast),
})

/** How a change ends. */
export const edits = (cast: Cast): Cases<EditOutcome> => ({
  edited: [
    { when: 'it is changed', outcome: edited(cast, {}) },
    {
      when: 'CI made something else of it',
      outcome: edited(cast, {
        otherwise: [difference('team_ids', '7', cast.number), difference('notification_rules[0].target', null, 'all')],
      }),
    },
    { when: 'it could not be read again', outcome: edited(cast, { readAgain: false }) },
    {
      when: 'CI does not show all of it',
      outcome: edited(cast, {
        unshown: ['environment_variables', 'notification_rules[2].options.key', cast.typed],
      }),
    },
  ],
  'changed-meanwhile': [
    {
      when: 'somebody was faster',
      outcome: {
        kind: 'changed-meanwhile',
        project: projectOf(cast.project),
        theirs: ['branches', cast.typed],
      },
    },
  ],
  'no-difference': [{ when: 'it is so already', outcome: { kind: 'no-difference', project: projectOf(cast.project) } }],
  ...notSent(cast),
  ...sentInVain(cast),
})

export const creations = (cast: Cast): Cases<CreateOutcome> => ({
  created: [
    { when: 'it is created', outcome: { kind: 'created', project: projectOf(cast.project), otherwise: [] } },
    {
      when: 'CI made something else of it',
      outcome: {
        kind: 'created',
        project: projectOf(cast.project),
        otherwise: [difference('branches', cast.branch, null)],
      },
    },
  ],
  exists: [{ when: 'there is one by now', outcome: { kind: 'exists', project: projectOf(cast.project) } }],
  ...notSent(cast),
  ...sentInVain(cast),
})

export const resets = (cast: Cast): Cases<ResetOutcome> => ({
  reset: [
    {
      when: 'CI says the new key',
      outcome: { kind: 'reset', project: projectOf(cast.project, { type: 'pro' }), aesKey: cast.word },
    },
    {
      when: 'CI does not say the new key',
      outcome: { kind: 'reset', project: projectOf(cast.project, { type: 'pro' }), aesKey: null },
    },
  ],
  'not-pro': [{ when: 'it is not a Pro project', outcome: { kind: 'not-pro', project: projectOf(cast.project) } }],
  ...notSent(cast),
  ...sentInVain(cast),
})

const notSent = (cast: Cast): Cases<NotSent> => ({
  'no-v2': [{ when: 'the v2 interface is not configured', outcome: { kind: 'no-v2' } }],
  'not-listed': [{ when: 'CI does not list it', outcome: { kind: 'not-listed', project: projectOf(cast.project) } }],
  faults: [
    {
      when: 'a value cannot be sent',
      outcome: {
        kind: 'faults',
        faults: [
          { field: 'branches[2]', reason: 'is not a valid regular expression (RE2)' },
          { field: 'notification_rules[0].options.key', reason: 'slack needs a key' },
          { field: cast.typed, reason: cast.typed },
        ],
      },
    },
  ],
  'asked-already': [
    {
      when: 'somebody asked for something that is under way',
      outcome: { kind: 'asked-already', by: cast.user, at: BUILD_AT, state: 'calling' },
    },
  ],
  'ci-trouble': ciTrouble(cast),
  ...notFound(cast),
  ...refused(cast),
})

function refused(cast: Cast): Cases<Refused> {
  const [first, ...others] = refusals(cast).map(({ when, outcome: permit }) => ({
    when,
    outcome: { kind: 'forbidden', action: 'administer', permit } as const,
  }))
  return {
    forbidden: [first!, ...others],
    'unknown-person': [{ when: 'Slack does not say who asks', outcome: { kind: 'unknown-person', code: cast.code } }],
  }
}

const sentInVain = (cast: Cast): Cases<SentInVain> => ({
  'ci-refused': each(CODES, (code) => ({
    kind: 'ci-refused' as const,
    code,
    reason: code === 'bad-request' ? cast.reason : null,
    project: cast.project,
  })),
  unclear: [
    ...each(
      CODES,
      (code) => ({ kind: 'unclear', code, project: cast.project, lookUp: 'not-shown' }) as const,
      ', and it does not show',
    ),
    {
      when: 'CI answers that it did it, and it does not show',
      outcome: { kind: 'unclear', code: 'taken', project: cast.project, lookUp: 'not-shown' },
    },
    {
      when: 'CI does not answer, then or later',
      outcome: { kind: 'unclear', code: 'timeout', project: cast.project, lookUp: 'away' },
    },
  ],
})

const edited = (cast: Cast, change: Partial<Of<EditOutcome, 'edited'>>): Of<EditOutcome, 'edited'> => ({
  kind: 'edited',
  project: projectOf(cast.project),
  differences: [
    difference('branches', `main\n${cast.branch}`, cast.other),
    { field: 'environment_variables.TOKEN', before: null, after: MASK, isSecret: true },
    { field: `notification_rules[2].options.key`, before: MASK, after: MASK, isSecret: true },
    difference(cast.typed, cast.typed, null),
  ],
  otherwise: [],
  unshown: [],
  readAgain: true,
  ...change,
})

const difference = (field: string, before: string | null, after: string | null): Difference => ({
  field,
  before,
  after,
  isSecret: false,
})

function shownOf(cast: Cast): ShownProject {
  const raw = {
    type: 'basic',
    repository_url: `https://code.example/${cast.project}.git`,
    repository_provider: cast.word,
    ssh_key: `ssh-ed25519 ${'AAAAC3NzaC1lZDI1NTE5'.repeat(3)} ${cast.word}`,
    aes_key: null,
    created_at: '2026-01-05T14:02:00.250Z',
    updated_at: '2026-04-30T09:15:00.000Z',
    branch_match: 'include',
    branches: [cast.branch, '^release/.*$'],
    build_on_pr_only: true,
    team_ids: [7, 9],
    setup_commands: ['npm ci', cast.message],
    environment_variables: [{ name: cast.typed, value: 'hidden' }],
    test_pipelines: [{ name: cast.word, commands: ['npm test'] }],
    deployment_pipelines: [
      { branch: { branch_name: cast.branch, match_mode: 'wildcard' }, config: [{ type: 's3_deployment' }] },
      { branch: 'main', config: { deployments: [{ type: 'script_deployment' }] } },
      { config: [] },
    ],
    notification_rules: [
      { notifier: 'slack', branch: cast.branch, branch_match: 'exact', build_statuses: ['failed', 'recovered'] },
      { notifier: 'email', target: 'committer', build_statuses: ['started', 'failed', 'success', 'recovered'] },
      { notifier: 'repository_status', build_statuses: ['failed', 'success'] },
      { notifier: cast.word, branch: cast.branch, branch_match: 'regex', build_statuses: [cast.word] },
    ],
    [cast.code]: true,
  }
  return {
    project: projectOf(cast.project),
    masked: maskedProject(raw),
    setup: [],
    build: buildOf(cast),
    base: {},
  }
}

const bare = (cast: Cast): ShownProject => ({
  project: projectOf(cast.project, { type: 'pro' }),
  masked: maskedProject({ type: 'pro', branch_match: cast.word, branches: [cast.branch] }),
  setup: [],
  build: null,
  base: {},
})
