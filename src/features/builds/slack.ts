import type { StatusOutcome, Target, ActOutcome, BuildSummary } from '../../catalog/outcomes.ts'
import { answerStatus, answerRunning, answerFound, answerOverview } from './status-messages.ts'
import type { Reply, SlackDeps } from '../context.ts'
import {
  commandAbout,
  answerContext,
  outcomeName,
  whenMayRead,
  type Command,
  type Question,
  BUILD_USAGE,
} from '../command.ts'
import { answerAct } from './act-messages.ts'
import { shortId } from '../../domain/ids.ts'
import { parseAttemptRef, type Action } from '../../domain/request.ts'
import type { Button, Click, Feature } from '../feature.ts'
import { answerNotFound } from '../not-found.ts'
import { requesterOf, messageOf } from '../body.ts'
import { placeOf } from '../reply-target.ts'
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
  {
    overall: (question) => channelStatus(question),
    about: (question, target) =>
      whenMayRead(question, async () => replyWith(question, target, await statusOf(question, target))),
  },
)

/** The last builds of the projects that the channel follows. */
const channelStatus = (question: Question): Promise<Reply> =>
  whenMayRead(question, async () => {
    const about = { project: null, branch: null, channel: question.by.channel }
    return replyWith(question, null, await question.operations.status(about))
  })

/** `/ci` alone: what is red and what runs in this channel's projects. */
export const overview = (question: Omit<Question, 'row'>): Promise<Reply> =>
  whenMayRead(question, async () => {
    const { channel } = question.by
    const [newest, running] = await Promise.all([
      question.operations.status({ project: null, branch: null, channel }),
      question.operations.running(channel),
    ])
    const known = newest.kind === 'channel-status' ? newest : { builds: [], more: 0 }
    return { outcome: 'overview', answer: answerOverview({ newest: known, running }) }
  })

const statusOf = ({ operations, by }: Question, target: Target): Promise<StatusOutcome> =>
  target.kind === 'project'
    ? operations.status({ project: target.project, branch: target.branch, channel: by.channel })
    : operations.status({ target })

const replyWith = (question: Question, target: Target | null, outcome: StatusOutcome): Reply => ({
  outcome: outcomeName(outcome),
  answer: answerStatus(outcome, answerContext(question, target, 'status')),
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
  {
    /** Lists what runs here, each with its own Stop button. Nothing is stopped unless it is named. */
    overall: (question) =>
      whenMayRead(question, async () => {
        const outcome = await question.operations.running(question.by.channel)
        return { outcome: outcome.kind, answer: answerRunning(outcome) }
      }),
    async about(question, target) {
      const outcome = await question.operations.stop(target, question.by)
      return { outcome: outcomeName(outcome), answer: answerAct(outcome, answerContext(question, target)) }
    },
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
  {
    /** The last builds of this channel, with the buttons that can work. */
    overall: channelStatus,
    async about(question, target) {
      const outcome = await question.operations.restart(target, question.by)
      return { outcome: outcomeName(outcome), answer: answerAct(outcome, answerContext(question, target)) }
    },
  },
)

/** The button of a build. The card may be stale, so the operation checks the build's current state. */
const button = (action: Action): Button => ({
  what: action,
  describe: (value) => {
    const ref = parseAttemptRef(value)
    return ref && `${ACTION_WORDS[action]} of #${shortId(ref.buildId)}`
  },
  answer: (click) => act(action, click),
})

async function act(action: Action, { deps, value, by, reference }: Click): Promise<Reply | null> {
  const ref = parseAttemptRef(value)
  if (!ref) return null
  const outcome = await deps.operations[action]({ kind: 'run', ref }, by)
  return { outcome: outcomeName(outcome), answer: answerAct(outcome, { command: action, branch: null, reference }) }
}

/** "Restart this build" on a message: the card, or any message of its thread. */
function restartByShortcut(deps: SlackDeps, body: unknown): Promise<void> {
  const by = requesterOf(body, 'shortcut')
  const target = messageOf(body)
  return respond(deps, { what: 'restart', by, place: placeOf(deps, body) }, async (reference) => {
    const context = { command: 'restart', branch: null, reference } as const
    if (!target) return { outcome: 'no-card', answer: answerNotFound({ kind: 'no-card' }, context) }
    const outcome = await deps.operations.restart(target, by)
    return { outcome: outcomeName(outcome), answer: answerAct(outcome, context) }
  })
}

/** "Stop this build" on a message. A shortcut cannot ask for confirmation, so this shows the build; its button can. */
function stopByShortcut(deps: SlackDeps, body: unknown): Promise<void> {
  const by = requesterOf(body, 'shortcut')
  const target = messageOf(body)
  return respond(deps, { what: 'stop', by, place: placeOf(deps, body) }, (reference) =>
    whenMayRead({ operations: deps.operations, by, reference }, () => offerStop(deps, target, reference)),
  )
}

async function offerStop({ operations }: SlackDeps, target: Target | null, reference: string): Promise<Reply> {
  const context = { command: 'stop', branch: null, reference } as const
  const found = target ? await operations.findBuild(target) : ({ kind: 'no-card' } as const)
  if (found.kind !== 'found') return { outcome: outcomeName(found), answer: answerNotFound(found, context) }
  const outcome = whyNot(found.build)
  return outcome
    ? { outcome: outcome.kind, answer: answerAct(outcome, context) }
    : { outcome: 'offered', answer: answerFound(found.build) }
}

/** Why there is no Stop button; null if there is one, or if a stop was already requested, which the build shows. */
function whyNot(build: BuildSummary): ActOutcome | null {
  if (build.offers.includes('stop') || isStillRunning(build)) return missingOf(build)
  return { kind: 'not-now', action: 'stop', build }
}

const isStillRunning = ({ shown }: BuildSummary): boolean => shown === 'started'

const missingOf = (build: BuildSummary): ActOutcome | null =>
  build.missing?.action === 'stop' ? { kind: 'impossible', action: 'stop', why: build.missing.why, build } : null

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
