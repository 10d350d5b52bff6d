import type { ActionOutcome, BuildSummary, Requester, Target } from '../../catalog/outcomes.ts'
import { answerStatus, answerRunning, answerFound, answerOverview } from './status-messages.ts'
import type { Reply, SlackDeps } from '../context.ts'
import {
  commandAbout,
  answerContext,
  replyTo,
  whenMayRead,
  type Command,
  type Question,
  BUILD_USAGE,
} from '../command.ts'
import { answerAction } from './action-messages.ts'
import { shortId, sourceOf } from '../../domain/ids.ts'
import { parseAttemptRef, type Action } from '../../domain/request.ts'
import type { ButtonHandler, Feature } from '../feature.ts'
import type { AnswerContext } from '../../slack/messages/answer.ts'
import { answerNotFound } from '../not-found.ts'
import { requesterOf, messageOf } from '../body.ts'
import { replyTargetOf } from '../reply-target.ts'
import { ACTION_WORDS } from '../../slack/messages/request.ts'
import { ACTION_IDS } from '../../slack/messages/ids.ts'
import { FIND_BRANCH_ID, FIND_CALLBACK_ID, FIND_PROJECT_ID } from './find-modal.ts'
import { chooseInFind, openFind, projectsForFind } from './find.ts'
import { respond } from '../respond.ts'

const status: Command = commandAbout(
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
  answerWithStatus,
)

/** The build or the branches that were named; else the last builds of the projects that the channel follows. */
function answerWithStatus(question: Question, target: Target | null): Promise<Reply> {
  const { operations, by } = question
  return whenMayRead(question, async () => {
    const outcome = await operations.status(
      target && target.kind !== 'project'
        ? { target }
        : { project: target?.project ?? null, branch: target?.branch ?? null, channel: by.channel },
    )
    return replyTo(outcome, answerStatus(outcome, answerContext(question, target, 'status')))
  })
}

/** `/ci` alone: what is red and what runs in this channel's projects. */
export const overview = (question: Omit<Question, 'row'>): Promise<Reply> =>
  whenMayRead(question, async () => {
    const { channel } = question.by
    const [newest, running] = await Promise.all([
      question.operations.status({ project: null, branch: null, channel }),
      question.operations.running(channel),
    ])
    const known = newest.kind === 'channel-status' ? newest : { builds: [], more: 0, red: 0 }
    return { outcome: 'overview', answer: answerOverview({ newest: known, running }) }
  })

const stop: Command = commandAbout(
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
      'CI stops a build only by its uuid. Buildline finds it for Basic projects; Pro projects report it in a build step. GitHub and GitLab need none.',
    ],
  },
  (question, target) => {
    const { operations, by } = question
    if (target) return act(operations.stop(target, by), answerContext(question, target))
    // Lists what runs here, each with its own Stop button. Nothing is stopped unless it is named.
    return whenMayRead(question, async () => {
      const outcome = await operations.running(by.channel)
      return replyTo(outcome, answerRunning(outcome))
    })
  },
)

const restart: Command = commandAbout(
  {
    name: 'restart',
    alias: '/ci-restart',
    group: 'Act',
    usage: BUILD_USAGE,
    does: 'runs the last build of a branch again',
    examples: ['/ci restart acme/web@main', '/ci restart #512'],
    who: 'operators',
    notes: [
      'CI restarts builds of Basic projects only; GitHub and GitLab run the failed jobs again.',
      'A build that is running has to end or be stopped first.',
    ],
  },
  (question, target) =>
    target
      ? act(question.operations.restart(target, question.by), answerContext(question, target))
      : // The last builds of this channel, with the buttons that can work.
        answerWithStatus(question, null),
)

/** The button of a build. The card may be stale, so the operation checks the build's current state. */
const button = (action: Action): ButtonHandler => ({
  what: action,
  describe: (value) => {
    const ref = parseAttemptRef(value)
    return ref && `${ACTION_WORDS[action]} of #${shortId(ref.buildId)}`
  },
  async answer({ operations, value, by, reference }) {
    const ref = parseAttemptRef(value)
    return ref && act(operations[action]({ kind: 'run', ref }, by), { command: action, reference })
  },
})

async function act(acting: Promise<ActionOutcome> | ActionOutcome, context: AnswerContext): Promise<Reply> {
  const outcome = await acting
  return replyTo(outcome, answerAction(outcome, context))
}

/** "Restart this build" on a message: the card, or any message of its thread. */
const restartByShortcut = (deps: SlackDeps, body: unknown): Promise<void> =>
  answerShortcut('restart', deps, body, (by, target, context) =>
    act(target ? deps.operations.restart(target, by) : NO_CARD, context),
  )

/** "Stop this build" on a message. A shortcut cannot ask for confirmation, so this shows the build; its button can. */
const stopByShortcut = (deps: SlackDeps, body: unknown): Promise<void> =>
  answerShortcut('stop', deps, body, (by, target, context) =>
    whenMayRead({ operations: deps.operations, by, reference: context.reference }, async () => {
      const found = target ? await deps.operations.findBuild(target) : NO_CARD
      if (found.kind !== 'found') return replyTo(found, answerNotFound(found, context))
      const outcome = whyNot(found.build)
      return outcome
        ? { outcome: outcome.kind, answer: answerAction(outcome, context) }
        : { outcome: 'offered', answer: answerFound(found.build) }
    }),
  )

/** @param answer about the message's build; null: it is no message of a channel */
function answerShortcut(
  what: Action,
  deps: SlackDeps,
  body: unknown,
  answer: (by: Requester, target: Target | null, context: AnswerContext) => Promise<Reply>,
): Promise<void> {
  const by = requesterOf(body, 'shortcut')
  return respond(deps, { what, by, replyTarget: replyTargetOf(deps, body) }, (reference) =>
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

export const builds: Feature = {
  commands: [status, stop, restart],
  buttons: { [ACTION_IDS.stop]: button('stop'), [ACTION_IDS.restart]: button('restart') },
  fields: { [FIND_PROJECT_ID]: chooseInFind, [FIND_BRANCH_ID]: chooseInFind },
  menus: { [FIND_PROJECT_ID]: projectsForFind },
  shortcuts: {
    restart_build: {
      type: 'message',
      name: 'Restart this build',
      description: 'Runs the build of this message again',
      answer: restartByShortcut,
    },
    stop_build: {
      type: 'message',
      name: 'Stop this build',
      description: 'Stops the build of this message, after asking once more',
      answer: stopByShortcut,
    },
    [FIND_CALLBACK_ID]: {
      type: 'global',
      name: 'Find a build',
      description: 'Shows the last build of a project or branch',
      answer: openFind,
    },
  },
}
