import { maskedProject } from '../../src/domain/ci-project/masked-project.ts'
import type { Difference } from '../../src/domain/ci-project/project-change.ts'
import { MASK } from '../../src/domain/ci-project/project-fields.ts'
import type { Subscription } from '../../src/domain/rules/subscription.ts'
import { createSeal } from '../../src/lib/seal.ts'
import { answerOldForm } from '../../src/features/kit/fault-messages.ts'
import { answerUndone } from '../../src/features/kit/interrupted.ts'
import { answerReset } from '../../src/features/projects/messages.ts'
import { buildOf, CAST, CHANNEL, projectOf, REFERENCE } from '../../packages/demo/src/samples/cast.ts'
import { githubProjectId, gitlabProjectId } from '../../src/domain/ids.ts'
import type { Gate } from '../../src/domain/builds/build-event.ts'
import { streakView } from '../../src/features/streaks/form.ts'
import { redOf, snoozed } from '../../packages/demo/src/samples/streaks.ts'
import { gateView } from '../../src/features/builds/gate-form.ts'
import { describedFeatures } from '../../src/features/features.ts'
import { answerView, waitingView, type ModalView } from '../../src/features/kit/modal.ts'
import { createView, previewView } from '../../src/features/projects/create-form.ts'
import { comparingView, differenceView, editView } from '../../src/features/projects/edit-form.ts'
import { type WaitingCreation, type WaitingEdit, projectContext, TITLES, waitingFor } from '../../src/features/projects/forms.ts'
import { resetView } from '../../src/features/projects/reset-form.ts'
import { offering } from '../../src/features/projects/run-and-announce.ts'
import { pendingView, subscribeView, type SubscribeForm } from '../../src/features/subscriptions/form-view.ts'
import type { ShownProject } from '../../src/features/projects/outcomes.ts'
import type { ShownSubscription } from '../../src/projects/subscriptions.ts'
import { runView } from '../../src/features/run/form.ts'
import { faultsOf } from '../../packages/demo/src/samples/runs.ts'
import { HOSTILE } from './answers-stage.ts'
import type { PreviewOutcome } from '../../src/features/projects/edit.ts'

const { forms: FORMS } = describedFeatures()

/** A form, and when people see it. */
export interface ModalCase {
  when: string
  view: object
  /** the errors at its fields, after it was submitted */
  errors?: Readonly<Record<string, string>>
}

const rule = (events: readonly string[], branch: string | null): Partial<Subscription> => ({
  rules: [{ branch, branchMatch: null, events }],
})

const subscription = (change: Partial<Subscription> = {}): ShownSubscription => ({
  subscription: {
    channel: CHANNEL,
    follows: { what: 'project', name: CAST.project, ...uuidOf(CAST.project) },
    rules: null,
    quiet: false,
    mention: 'committer',
    source: 'slack',
    id: '7',
    ...change,
  },
  project: projectOf(CAST.project),
  rules: null,
  rulesFrom: 'ci',
  paused: null,
})

function uuidOf(name: string) {
  const { uuid } = projectOf(name)
  return uuid === null ? {} : { uuid }
}

const subscribe = (change: Partial<SubscribeForm> = {}): ModalView =>
  subscribeView({
    memory: { channel: CHANNEL, instead: null },
    shown: null,
    how: 'changes',
    ...change,
  })

const releases = subscription({ ...rule(['failed', 'recovered'], 'release/*'), quiet: true })

/** A project in which every part can be edited. */
const RAW = {
  type: 'basic',
  branch_match: 'include',
  branches: ['main', '^release/.*$'],
  build_on_pr_only: true,
  team_ids: [7, 9],
  environment_variables: [
    { name: 'NODE_ENV', value: 'hidden' },
    { name: 'TOKEN', value: 'hidden' },
  ],
  notification_rules: [
    { notifier: 'slack', branch: 'main', build_statuses: ['failed', 'recovered'], options: { key: 'hidden' } },
    { notifier: 'email', target: 'committer', build_statuses: ['failed'] },
  ],
}

const project = (raw: Record<string, unknown> = RAW, name = CAST.project): ShownProject => ({
  project: projectOf(name),
  masked: maskedProject(raw),
  setup: ['npm ci', 'npm run build'],
  build: null,
  base: {},
})

const edit = (part: string | null, shown = project()): ModalView => editView(shown, part, CHANNEL)

const SEAL = createSeal('golden')

const WAITING_EDIT: WaitingEdit = {
  kind: 'edit',
  project: projectOf(CAST.project).uuid!,
  name: CAST.project,
  channel: CHANNEL,
  change: { what: 'teams', ids: ['7'] },
  base: {},
}

const difference = (field: string, before: string | null, after: string | null): Difference => ({
  field,
  before,
  after,
  isSecret: false,
})

const differing = (change: Partial<Extract<PreviewOutcome, { kind: 'preview' }>> = {}): ModalView =>
  differenceView(
    { seal: SEAL },
    {
      kind: 'preview',
      project: projectOf(CAST.project),
      differences: [
        difference('branches', 'main', 'main\nrelease/2.0'),
        { field: 'environment_variables.TOKEN', before: MASK, after: MASK, isSecret: true },
      ],
      theirs: [],
      unshown: [],
      silences: false,
      base: {},
      ...change,
    },
    WAITING_EDIT,
  )

const WAITING_CREATION: WaitingCreation = {
  kind: 'creation',
  name: 'acme/shop',
  channel: CHANNEL,
  evenIfThere: false,
  creation: {
    repository_url: 'https://code.example/acme/shop',
    type: 'basic',
    team_ids: ['7'],
    build_on_pr_only: false,
    branch_match: 'include',
    branches: ['main'],
    setup_commands: ['npm ci'],
    test_pipelines: [
      { name: 'Tests', commands: ['npm ci'] },
      { name: 'Unit', commands: ['npm test'] },
    ],
    notification_rules: [{ notifier: 'email', target: 'all', branch: 'main', build_statuses: ['failed'] }],
    environment_variables: [{ name: 'TOKEN', value: 'hidden' }],
  },
}

/** The errors of this form after it was submitted with these values. */
function refused(view: ModalView, values: Record<string, unknown>): Readonly<Record<string, string>> {
  const form = FORMS.get(view.callback_id ?? '')!
  const { ack } = form.receive({ type: 'view_submission', view: { ...view, state: { values } } })
  return ack?.response_action === 'errors' ? ack.errors : {}
}

const typed = (value: string) => ({ value: { type: 'plain_text_input', value } })

const reset = resetView(project(), CHANNEL)
const creating = createView('', CHANNEL)
const shownReset = {
  kind: 'reset',
  project: projectOf(CAST.project, { type: 'pro' }),
  aesKey: 'c2FuZGJveC1hZXM=',
} as const
const GATED = { ref: { ...buildOf(CAST, 'waiting').ref, projectId: githubProjectId('1', '77') }, channel: CHANNEL }
const AT_GITLAB = { ...GATED, ref: { ...GATED.ref, projectId: gitlabProjectId('71') } }

const HOSTILE_GATE = '<!channel> *deploy* <https://evil.example|here>'

const gateOf = (name: string, reviewers: readonly string[] = []): Gate => ({
  kind: 'environment',
  id: '7',
  name,
  reviewers,
  isOurs: true,
  until: null,
})

/** Every form that people may see, by the name of its golden file. */
export const MODAL_CASES: Readonly<Record<string, ModalCase>> = {
  'subscribe-new': { when: 'Somebody types /ci subscribe alone.', view: subscribe() },
  'subscribe-change': {
    when: 'Somebody presses Change at a subscription with rules of its own.',
    view: subscribe({ shown: releases, how: 'own' }),
  },
  'subscribe-ci-rules': {
    when: "Somebody presses Change at a subscription that goes by the project's own rules.",
    view: subscribe({ shown: subscription(), how: 'ci' }),
  },
  'subscribe-all': {
    when: 'Somebody presses Change at a subscription to every project.',
    view: subscribe({ shown: subscription({ follows: { what: 'all' }, mention: 'nobody' }), how: 'ci' }),
  },
  'subscribe-hostile': {
    when: 'The pattern of the subscription tries to mention and format.',
    view: subscribe({ shown: subscription(rule(['failed'], HOSTILE.branch)) }),
  },
  'subscribe-keeping': { when: 'The form of a subscription was sent in.', view: pendingView },
  streak: {
    when: "Somebody presses I'm on it at a red branch.",
    view: streakView({ id: '7', channel: CHANNEL }, redOf(CAST), CAST.user),
  },
  'streak-owned': {
    when: 'Somebody presses it while they are on the branch themselves and reminders are snoozed.',
    view: streakView({ id: '7', channel: CHANNEL }, redOf(CAST, snoozed(CAST)), CAST.user),
  },
  'streak-hostile': {
    when: 'The names of the project and its branch try to mention and format.',
    view: streakView({ id: '7', channel: CHANNEL }, redOf({ ...CAST, ...HOSTILE }), CAST.user),
  },
  'streak-errors': {
    when: 'The form was sent in to hand it over, without a person.',
    view: streakView({ id: '7', channel: CHANNEL }, redOf(CAST), CAST.user),
    errors: refused(streakView({ id: '7', channel: CHANNEL }, redOf(CAST), CAST.user), {
      breakage_wish: { value: { type: 'static_select', selected_option: { value: 'hand' } } },
    }),
  },
  'gate-approve': {
    when: 'Somebody presses Approve… at a run that waits for one environment.',
    view: gateView({ ...GATED, action: 'approve' }, buildOf(CAST, 'waiting'), [gateOf('production', ['@ada', 'team/ops'])]),
  },
  'gate-approve-gitlab': {
    when: 'Somebody presses Approve… at a pipeline that waits for a group of GitLab.',
    view: gateView({ ...AT_GITLAB, action: 'approve' }, buildOf(CAST, 'waiting'), [gateOf('production', ['2 of qa'])]),
  },
  'gate-reject': {
    when: 'Somebody presses Reject… at a run that waits for two environments.',
    view: gateView({ ...GATED, action: 'reject' }, buildOf(CAST, 'waiting'), [gateOf('eu'), gateOf('us')]),
  },
  'gate-run': {
    when: 'Somebody presses Approve… at the run of a first-time contributor.',
    view: gateView({ ...GATED, action: 'approve' }, buildOf(CAST, 'waiting'), [{ ...gateOf(''), kind: 'run', id: 'run' }]),
  },
  'gate-play': {
    when: 'Somebody presses Run… at a pipeline with manual jobs, whose names try to mention and format.',
    view: gateView({ ...AT_GITLAB, action: 'play' }, buildOf(CAST, 'waiting'), [
      { ...gateOf(HOSTILE_GATE), kind: 'job', id: '8' },
      { ...gateOf('deploy: us'), kind: 'job' },
    ]),
  },
  'project-reading': {
    when: 'Somebody asks to edit a project: the form opens at once, and CI is being asked.',
    view: waitingFor('edit', 'Reading *acme/web* …'),
  },
  'project-edit': { when: 'CI has answered: one chooses what shall change.', view: edit(null) },
  'project-edit-builds': { when: 'Branches and pull requests are chosen.', view: edit('builds') },
  'project-edit-setup': { when: 'Setup commands are chosen.', view: edit('setup') },
  'project-edit-variables': {
    when: 'Environment variables are chosen: their values are never shown.',
    view: edit('variables'),
  },
  'project-edit-teams': { when: 'Teams are chosen.', view: edit('teams') },
  'project-edit-type': { when: 'The type is chosen.', view: edit('type') },
  'project-edit-new-rule': { when: 'A new notification rule is chosen.', view: edit('rule:new') },
  'project-edit-rule': { when: 'A notification rule is chosen.', view: edit('rule:0') },
  'project-edit-hostile': {
    when: 'The name of the project, its branches and its rules try to mention and format.',
    view: edit(
      'builds',
      project({ ...RAW, branches: [HOSTILE.branch], notification_rules: [{ notifier: '<!here>' }] }, HOSTILE.project),
    ),
  },
  'project-edit-too-long': {
    when: 'There is more in the chosen part than a form of Slack takes.',
    view: edit('builds', project({ ...RAW, branches: ['x'.repeat(3_001)] })),
  },
  'project-edit-many-rules': {
    when: 'The project has more rules than a menu of Slack takes.',
    view: edit(
      null,
      project({ ...RAW, notification_rules: Array.from({ length: 95 }, () => RAW.notification_rules[0]) }),
    ),
  },
  'project-edit-errors': {
    when: 'The form was sent in with a value that cannot be kept: what is wrong stands at its field.',
    view: edit('variables'),
    errors: refused(edit('variables'), { 'edit:environment_variables': typed('NODE_ENV=x••••••') }),
  },
  'project-comparing': {
    when: 'The form was sent in, and is compared with what CI has.',
    view: comparingView(CAST.project),
  },
  'project-difference': { when: 'What would be sent to CI is shown before it is sent.', view: differing() },
  'project-difference-theirs': {
    when: 'Somebody else changed the project since the form was opened.',
    view: differing({ theirs: ['team_ids'] }),
  },
  'project-difference-unshown': {
    when: 'CI does not show all of the project, and the update may take that away.',
    view: differing({ unshown: ['environment_variables'] }),
  },
  'project-difference-silences': {
    when: 'The rule is removed by which CI tells Buildline of builds.',
    view: differing({ differences: [difference('notification_rules[2].notifier', 'webhook', null)], silences: true }),
  },
  'project-difference-without': {
    when: 'CI refused the change, since it does not know the notifier of a rule: the same is offered without that rule.',
    view: offering(
      differing({ differences: [difference('notification_rules[2].notifier', 'pigeon', null)] }),
      'Send without it',
      ['pigeon'],
    ),
  },
  'project-difference-hostile': {
    when: 'What would be sent tries to mention and format.',
    view: differing({ differences: [difference(HOSTILE.typed, HOSTILE.branch, HOSTILE.word)] }),
  },
  'project-create-reading': {
    when: 'Somebody types /ci project create: whether they may is being looked at.',
    view: waitingFor('create', 'Looking whether you may …'),
  },
  'project-create': { when: 'Whoever may create projects has the empty form.', view: creating },
  'project-create-named': {
    when: 'The repository was named with the command.',
    view: createView('https://code.example/acme/shop', CHANNEL),
  },
  'project-create-errors': {
    when: 'The form was sent in with what cannot be sent to CI: what is wrong stands at its field.',
    view: creating,
    errors: refused(creating, {
      'create:repository_url': typed('acme shop'),
      'create:team_ids': typed('seven'),
      'create:branches': typed('^release/('),
      'create:rule:branch': typed('main'),
      'create:more': typed('{"notification_rules":[{"notifier":"slack"}]}'),
    }),
  },
  'project-create-errors-in-variables': {
    when: 'The form was sent in with a variable that has no value.',
    view: creating,
    errors: refused(creating, { 'create:environment_variables': typed('TOKEN=••••••\nNODE_ENV') }),
  },
  'project-create-looking': {
    when: 'The form was sent in, and CI is asked whether there is such a project.',
    view: waitingFor('create', 'Looking whether it is there already …'),
  },
  'project-create-look': {
    when: 'What would be created is shown before it is.',
    view: previewView({ seal: SEAL }, { kind: 'free' }, WAITING_CREATION),
  },
  'project-create-exists': {
    when: 'There is a project of that name already.',
    view: previewView({ seal: SEAL }, { kind: 'exists', project: projectOf('acme/shop') }, WAITING_CREATION),
  },
  'project-asking': {
    when: 'What was shown was sent: CI is being asked.',
    view: waitingFor('edit', 'Asking CI …'),
  },
  'run-build': {
    when: 'Somebody types /ci run without a required input.',
    view: runView(faultsOf({ ...CAST, typed: 'note' }, [{ name: 'environment', why: 'missing', options: [] }]), CHANNEL)!,
  },
  'run-build-hostile': {
    when: "The names of the workflow's inputs try to mention and format.",
    view: runView(faultsOf(HOSTILE, []), CHANNEL)!,
  },
  'run-build-starting': {
    when: 'The form was sent in, and the workflow is being started.',
    view: waitingView('Run a build', 'Starting it …'),
  },
  'project-reset': { when: 'Somebody types /ci project reset-aes-key of a Pro project.', view: reset },
  'project-reset-errors': {
    when: 'Another name was typed than the one of the project.',
    view: reset,
    errors: refused(reset, { 'reset:name': typed('acme/wbe') }),
  },
  'project-reset-done': {
    when: 'The key was reset: whoever asked sees the new one, here and once.',
    view: answerView(
      TITLES['reset-aes-key'],
      answerReset(shownReset, projectContext('reset-aes-key', REFERENCE)),
    ),
  },
  'old-form': {
    when: 'A form was sent in that an older version drew.',
    view: answerView(TITLES.edit, answerOldForm()),
  },
  'not-done': {
    when: 'A form was sent in and could not be written down: this lies on top of it, and the form can be sent again.',
    view: answerView('Not done', answerUndone(REFERENCE)),
  },
}
