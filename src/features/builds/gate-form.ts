import type { Gate } from '../../domain/builds/build-event.ts'
import { gatesFor } from '../../domain/cards/capabilities.ts'
import {
  attemptRefText,
  GATE_ACTIONS,
  parseAttemptRef,
  type AttemptRef,
  type GateAction,
} from '../../domain/cards/request.ts'
import { isChannelId, sourceOf, type ChannelId } from '../../domain/ids.ts'
import { findBuild, summaryOf } from '../../projects/find-build.ts'
import { section } from '../../slack/messages/blocks.ts'
import { gatesLine, ACTION_WORDS } from '../../slack/messages/request.ts'
import { SOURCE_NAMES } from '../../slack/messages/words.ts'
import { buildSubject } from '../kit/build.ts'
import { requesterIn, textAt } from '../kit/body.ts'
import { replyTo, type AnswerDeps } from '../kit/command.ts'
import type { ButtonHandler } from '../kit/feature.ts'
import { choiceField, chosenIn, menuOption, textField, typedIn } from '../kit/fields.ts'
import { formView, oldForm, openFor, refusing, waitingView, working, type Form, type ModalView } from '../kit/modal.ts'
import type { BuildSummary } from '../../projects/outcomes.ts'
import { act, type ActionOutcome } from './action.ts'
import { answerAction, describeClick } from './action-messages.ts'
import { ACTING } from './acting.ts'
import type { ActDeps } from './call-once.ts'

// The form that asks once more before a waiting build is let through a gate, or not.

export const GATE_CALLBACK_ID = 'build_gate'

const FIELDS = { gate: 'gate', comment: 'gate_comment' } as const

/** GitLab takes 255 characters (`ee/app/models/deployments/approval.rb`), of which our words need up to 142. */
const COMMENT_CHARS_MAX = { ci: 500, github: 500, gitlab: 110 } as const

const TITLES: Record<GateAction, string> = { approve: 'Approve', reject: 'Reject', play: 'Run a manual job' }

/** What happens when the form is sent. */
const EFFECTS: Record<GateAction, string> = {
  approve: 'The deployment goes on as soon as nothing else holds it. This cannot be taken back.',
  reject: 'The deployment does not happen, and the build fails.',
  play: 'The job starts at once.',
}

const EFFECT_AT_GITLAB = 'The job does not start by itself: after the last approval, start it with *Run…* or in GitLab.'

const EFFECT_ON_RUN =
  "The run executes code of somebody who has not contributed before, with this repository's runners."

/** @param gates those that can be let through; at least one */
export function gateView(
  { action, ref, channel }: { action: GateAction; ref: AttemptRef; channel: ChannelId | null },
  build: BuildSummary,
  gates: readonly Gate[],
): ModalView {
  const only = gates.length === 1 ? gates[0]! : null
  const isRun = gates.some(({ kind }) => kind === 'run')
  const source = sourceOf(ref.projectId)
  const effect = action === 'approve' && source === 'gitlab' ? EFFECT_AT_GITLAB : EFFECTS[action]
  const options = gates.flatMap(({ id, name }) => menuOption(name, id))
  const hint = `${SOURCE_NAMES[source]} shows it, with your name.`
  const comment = { block: FIELDS.comment, label: 'Comment', hint, isOptional: true }
  return formView({
    id: GATE_CALLBACK_ID,
    title: TITLES[action],
    submit: ACTION_WORDS[action],
    metadata: [action, attemptRefText(ref), channel ?? '', only?.id ?? ''].join(' '),
    blocks: [
      section(`:hourglass_flowing_sand: ${buildSubject(build)} ${gatesLine(gates, null)}.`),
      ...(only
        ? []
        : [choiceField({ block: FIELDS.gate, label: action === 'play' ? 'Job' : 'Environment' }, options, null)]),
      ...(action === 'play' || isRun ? [] : [textField(comment, { isLong: true })]),
      section(isRun ? EFFECT_ON_RUN : effect),
    ],
  })
}

type Deps = AnswerDeps & ActDeps

/** The button of a waiting build opens the form; if nothing can be let through any more, it answers why. */
export const gateButton = (deps: Deps, action: GateAction): ButtonHandler => ({
  what: action,
  describe: (value) => describeClick(action, value),
  async answer({ value, by, modalOpener, reference }) {
    const ref = parseAttemptRef(value)
    if (!ref) return null
    const answered = (outcome: ActionOutcome) => replyTo(outcome, answerAction(outcome, { command: action, reference }))
    const looked = await findBuild(deps, { kind: 'run', ref })
    if (looked.kind !== 'found') return answered(looked)
    const { attempt } = looked.found
    const gates = attempt.n === ref.attempt ? gatesFor(action, attempt).filter(({ isOurs }) => isOurs) : []
    const build = await summaryOf(deps, looked.found)
    if (!modalOpener || gates.length === 0) return answered({ kind: 'not-now', action, build })
    const view = gateView({ action, ref, channel: by.channel }, build, gates)
    return openFor(modalOpener, view, () => deps.permits(ACTING[action].right, by), { action, reference })
  },
})

export const gateForm = (deps: Deps): Form => ({
  what: 'a waiting build',
  receive(body) {
    const memory = memoryIn(body)
    if (!memory) return oldForm('Waiting build')
    const { action, ref, channel } = memory
    const gate = memory.gate ?? chosenIn(body, FIELDS.gate)
    if (gate === null) return refusing({ [FIELDS.gate]: 'Choose one.' })
    const comment = typedIn(body, FIELDS.comment).trim()
    const max = COMMENT_CHARS_MAX[sourceOf(ref.projectId)]
    if (comment.length > max) return refusing({ [FIELDS.comment]: `At most ${max} characters.` })
    const by = requesterIn(body, channel)
    return working(body, waitingView(TITLES[action], 'Asking…'), { what: action, by }, async (reference) => {
      const outcome = await act(deps, { action, about: { gate, comment } }, { kind: 'run', ref }, by)
      return replyTo(outcome, answerAction(outcome, { command: action, reference }))
    })
  },
})

/** What the form remembers: what was pressed, the attempt, where, and the gate if there is only one. */
function memoryIn(body: unknown) {
  const [what, text = '', channel = '', gate = ''] = (textAt(body, 'view', 'private_metadata') ?? '').split(' ')
  const action = GATE_ACTIONS.find((one) => one === what)
  const ref = parseAttemptRef(text)
  return action && ref && { action, ref, channel: isChannelId(channel) ? channel : null, gate: gate || null }
}
