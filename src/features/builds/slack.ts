import { replyTargetOf } from '../kit/reply-target.ts'
import type { BuildSummary, Requester, Target } from '../../projects/outcomes.ts'
import { answerStatus, answerRestartable, answerRunning, answerFound, answerOverview } from './status-messages.ts'
import type { Reply, SlackDeps } from '../kit/context.ts'
import {
  commandAbout,
  answerContext,
  replyTo,
  whenMayRead,
  type AnswerDeps,
  type Command,
  type Question,
  BUILD_USAGE,
} from '../kit/command.ts'
import { act, type ActionOutcome } from './action.ts'
import { confirmRequests, type ConfirmRequests } from './confirm.ts'
import { answerAction, describeClick } from './action-messages.ts'
import type { ActDeps } from './call-once.ts'
import { GATE_CALLBACK_ID, gateButton, gateForm } from './gate-form.ts'
import { buildStatus, runningBuilds, statusOfChannel } from './status.ts'
import { findSummary } from '../../ci-sync/ci-lookup.ts'
import { sourceOf } from '../../domain/ids.ts'
import { parseAttemptRef, type Action } from '../../domain/cards/request.ts'
import type { ButtonHandler, Feature } from '../kit/feature.ts'
import type { AnswerContext } from '../../slack/messages/answer.ts'
import { answerNotFound } from '../kit/not-found.ts'
import { requesterOf, messageOf } from '../kit/body.ts'
import { respond } from '../kit/respond.ts'
import { ACTION_IDS } from '../../slack/messages/ids.ts'

type Deps = AnswerDeps & ActDeps & ConfirmRequests

export const builds = (deps: Deps): Feature => ({
  commands: [status(deps), stop(deps), restart(deps)],
  overview: (question) => overview(deps, question),
  jobs: [{ name: 'confirm-requests', cron: '*/15 * * * * *', afterNews: true, run: () => confirmRequests(deps) }],
  buttons: {
    [ACTION_IDS.stop]: button(deps, 'stop'),
    [ACTION_IDS.restart]: button(deps, 'restart'),
    [ACTION_IDS.approve]: gateButton(deps, 'approve'),
    [ACTION_IDS.reject]: gateButton(deps, 'reject'),
    [ACTION_IDS.play]: gateButton(deps, 'play'),
  },
  forms: { [GATE_CALLBACK_ID]: gateForm(deps) },
  shortcuts: {
    restart_build: {
      name: 'Restart this build',
      description: 'Runs the build of this message again',
      answer: (slack, body) => restartByShortcut(deps, slack, body),
    },
    stop_build: {
      name: 'Stop this build',
      description: 'Stops the build of this message, after asking once more',
      answer: (slack, body) => stopByShortcut(deps, slack, body),
    },
  },
})

const status = (deps: Deps): Command =>
  commandAbout(
    {
      name: 'status',
      alias: null,
      group: 'Look',
      usage: '[project] [branch]',
      does: 'shows the last build of each branch, and since when it is red',
      examples: ['/ci status', '/ci status acme/web', '/ci status acme/web main'],
      who: 'everyone',
      notes: [
        "Alone, it shows this channel's projects; with a project, its branches; with a branch, its last five builds.",
        'A branch stays red until a build of it passes, whatever is running or waiting meanwhile.',
      ],
    },
    (question, target) => answerWithStatus(deps, question, target),
  )

/** The build or the branches that were named; else the last builds of the projects that the channel follows. */
function answerWithStatus(deps: Deps, question: Question, target: Target | null): Promise<Reply> {
  const { channel } = question.by
  const query =
    target && target.kind !== 'project'
      ? { target, channel }
      : { project: target?.project ?? null, branch: target?.branch ?? null, channel }
  return whenMayRead(deps, question, async () => {
    const outcome = await deps.orAskCi(() => buildStatus(deps, query))
    return replyTo(outcome, answerStatus(outcome, answerContext(question, target, 'status')))
  })
}

/** `/ci` alone: what is red and what runs in this channel's projects. */
const overview = (deps: AnswerDeps, question: Omit<Question, 'row'>): Promise<Reply> =>
  whenMayRead(deps, question, async () => {
    const { channel } = question.by
    const [newest, running] = await Promise.all([statusOfChannel(deps, channel, 'red'), runningBuilds(deps, channel)])
    return { outcome: 'overview', answer: answerOverview({ newest, running }) }
  })

const stop = (deps: Deps): Command =>
  commandAbout(
    {
      name: 'stop',
      alias: '/ci-stop',
      group: 'Act',
      usage: BUILD_USAGE,
      does: 'stops a running build; alone, it shows what is running here',
      examples: ['/ci stop acme/web@main', '/ci stop #512', '/ci stop'],
      who: 'operators',
      notes: [
        'Name the build by its number, its address in CI or its uuid. A build that CI never reported can be stopped too.',
        'CI stops a build only by its uuid. Buildline finds it for Basic projects; Pro projects report it in a build step. GitHub and GitLab builds need no uuid.',
      ],
    },
    (question, target) => {
      if (target) return answerRequest(deps, 'stop', { target, by: question.by }, answerContext(question, target))
      // Lists what runs here, each with its own Stop button. Nothing is stopped unless it is named.
      return whenMayRead(deps, question, async () => {
        const outcome = await runningBuilds(deps, question.by.channel)
        return replyTo(outcome, answerRunning(outcome))
      })
    },
  )

const restart = (deps: Deps): Command =>
  commandAbout(
    {
      name: 'restart',
      alias: '/ci-restart',
      group: 'Act',
      usage: BUILD_USAGE,
      does: 'runs the last build of a branch again; alone, it shows what can be restarted here',
      examples: ['/ci restart acme/web@main', '/ci restart #512'],
      who: 'operators',
      notes: [
        'CI restarts builds of Basic projects only; GitHub and GitLab run the failed jobs again.',
        'A build that is running has to end or be stopped first.',
      ],
    },
    (question, target) =>
      target
        ? answerRequest(deps, 'restart', { target, by: question.by }, answerContext(question, target))
        : whenMayRead(deps, question, async () => {
            const outcome = await statusOfChannel(deps, question.by.channel, 'nothing')
            return replyTo(outcome, answerRestartable(outcome))
          }),
  )

/** The button of a build. The card may be stale, so the operation checks the build's current state. */
const button = (deps: Deps, action: Action): ButtonHandler => ({
  what: action,
  describe: (value) => describeClick(action, value),
  async answer({ value, by, reference }) {
    const ref = parseAttemptRef(value)
    return ref && answerRequest(deps, action, { target: { kind: 'run', ref }, by }, { command: action, reference })
  },
})

async function answerRequest(
  deps: Deps,
  action: Action,
  { target, by }: { target: Target; by: Requester },
  context: AnswerContext,
): Promise<Reply> {
  const outcome = await deps.orAskCi(() => act(deps, { action }, target, by))
  return replyTo(outcome, answerAction(outcome, context))
}

/** "Restart this build" on a message: the card, or any message of its thread. */
const restartByShortcut = (deps: Deps, slack: SlackDeps, body: unknown): Promise<void> =>
  answerShortcut('restart', slack, body, async (by, target, context) =>
    target ? answerRequest(deps, 'restart', { target, by }, context) : replyTo(NO_CARD, answerAction(NO_CARD, context)),
  )

/** "Stop this build" on a message. A shortcut cannot ask for confirmation, so this shows the build; its button can. */
const stopByShortcut = (deps: Deps, slack: SlackDeps, body: unknown): Promise<void> =>
  answerShortcut('stop', slack, body, (by, target, context) =>
    whenMayRead(deps, { by, reference: context.reference }, async () => {
      const found = target ? await findSummary(deps, target) : NO_CARD
      if (found.kind !== 'found') return replyTo(found, answerNotFound(found, context))
      const outcome = whyNot(found.build)
      return outcome
        ? { outcome: outcome.kind, answer: answerAction(outcome, context) }
        : { outcome: 'offered', answer: answerFound(found.build) }
    }),
  )

/** @param answer about the message's build; null: it is not a message in a channel */
function answerShortcut(
  what: Action,
  slack: SlackDeps,
  body: unknown,
  answer: (by: Requester, target: Target | null, context: AnswerContext) => Promise<Reply>,
): Promise<void> {
  const by = requesterOf(body, 'shortcut')
  return respond(slack, { what, by, replyTarget: replyTargetOf(slack, body) }, (reference) =>
    answer(by, messageOf(body), { command: what, reference }),
  )
}

const NO_CARD = { kind: 'no-card' } as const

/** Why there is no Stop button; null if there is one, or if a stop was already requested. */
function whyNot(build: BuildSummary): ActionOutcome | null {
  const { offers, missing } = build
  if (missing?.action === 'stop') return { kind: 'impossible', action: 'stop', why: missing.why, build }
  return offers.includes('stop') || isStoppable(build) ? null : { kind: 'not-now', action: 'stop', build }
}

/** If such a build has neither a button nor a reason, its stop was already requested. */
const isStoppable = ({ shown, ref }: BuildSummary): boolean =>
  shown === 'started' || (shown === 'queued' && sourceOf(ref.projectId) !== 'ci')
