import type { WebClient } from '@slack/web-api'
import { RESPONSE_URL_MS } from '../../store/records.ts'
import type { Clock } from '../../lib/clock.ts'
import { classify } from '../../slack/api/errors.ts'
import type { InterruptedInteraction } from './pending-interactions.ts'
import { directReplyTarget, nearPlace } from '../../slack/reply-targets.ts'
import { isProjectRequest, type ProjectAction } from '../../domain/cards/request.ts'
import { ACTION_WORDS } from '../../slack/messages/request.ts'
import { buildNumber, projectLabel } from '../../slack/messages/build.ts'
import { dayTime } from '../../slack/messages/times.ts'
import { SO_FAR } from './build.ts'
import { answerError, type Answer, typed } from '../../slack/messages/answer.ts'

/** The reference in the answer: this many characters of the interaction's id, by which operators find the log line. */
const REFERENCE_CHARS = 8

/**
 * Notifies a requester that their interaction was interrupted, or that its answer was not shown: where they made it,
 * else in a direct message. `unreachable`: Slack says that the person can never be reached. Throws if a retry may help.
 */
export async function showInterrupted(
  ways: { client: WebClient; clock: Clock },
  left: InterruptedInteraction,
): Promise<'shown' | 'unreachable'> {
  const { id, user, channel, threadTs, responseUrl, receivedAt } = left.interaction
  const answer = answerInterrupted(left, id.slice(0, REFERENCE_CHARS))
  const url = ways.clock.now() - receivedAt < RESPONSE_URL_MS ? responseUrl : null
  const near = nearPlace(ways, { user, spot: channel && { channel, threadTs }, url })
  // If it is unclear whether it was shown, show it a second time rather than never.
  if (near && (await isShown(near.show(answer, false)))) return 'shown'
  try {
    await directReplyTarget(ways.client, user).show(answer, true)
    return 'shown'
  } catch (error) {
    const { kind } = classify(error)
    if (kind === 'channel-closed' || kind === 'refused') return 'unreachable'
    throw error
  }
}

const isShown = (showing: Promise<void>): Promise<boolean> =>
  showing.then(
    () => true,
    () => false,
  )

/** For a person whose interaction has no visible answer: its known state, and what to do. */
export function answerInterrupted(
  { interaction, request, isUnshown }: InterruptedInteraction,
  reference: string,
): Answer {
  const description = [typed(interaction.what), dayTime(interaction.receivedAt)].filter(Boolean).join(', ')
  const what = isUnshown
    ? `:warning: *Not shown*: Slack did not show you Buildline's answer (${description}).`
    : `:warning: *Interrupted*: Buildline was restarted before it could answer you (${description}).`
  return answerError({ what, ...(request ? soFar(request) : withoutRequest(interaction.what, isUnshown)) }, reference)
}

// Subscriptions, digests, committer names and red branches are changed by one write each, without a request record.
function withoutRequest(asked: string, isUnshown: boolean) {
  const [, what = ''] = KEPT.exec(asked) ?? []
  if (what === '') return { why: isUnshown ? 'Nothing was changed.' : 'Nothing was done.', next: 'Try again.' }
  return {
    why: SEVERAL.test(asked) ? PERHAPS_SOME_KEPT : PERHAPS_KEPT,
    next: NEXT[what.toLowerCase()] ?? LOOK_AT_RULES,
  }
}

// Not after `/ci-…`: in `/ci-list me`, `me` is a search text.
const KEPT = /^(?:(?!\/ci-)\S+ +)?((?:un)?subscribe|digest (?:daily|weekly|off)|me|on|let|look after)\b/i

// An import makes one write for each subscription.
const SEVERAL = /^subscribe to these$/

const PERHAPS_SOME_KEPT = 'Each subscription was either saved completely or not at all.'
const PERHAPS_KEPT = 'It was either saved completely or not at all.'
const LOOK_AT_RULES = `Type ${typed('/ci rules')} in the channel to see its subscriptions, and try again if needed.`
const LOOK_AT_NAMES = `Type ${typed('/ci me')} to see your names, and try again if needed.`
const LOOK_AT_RED = `Type ${typed('/ci red')} to see who is on what, and try again if needed.`
const NEXT: Record<string, string> = { me: LOOK_AT_NAMES, on: LOOK_AT_RED, let: LOOK_AT_RED, 'look after': LOOK_AT_RED }

type Recorded = NonNullable<InterruptedInteraction['request']>

const soFar = (request: Recorded) =>
  isProjectRequest(request)
    ? {
        why: `${PROJECT_WORDS[request.action]} ${projectLabel(request)} is recorded. ${soFarOf(request)}`,
        next:
          request.action === 'run'
            ? 'Do not start it again: you will get a message with the result.'
            : `Look at it with ${typed(`/ci project ${request.project}`)} before you try again.`,
      }
    : {
        why: `*${ACTION_WORDS[request.action]}* of ${projectLabel(request.target)} ${buildNumber(request)} is recorded. ${soFarOf(request)}`,
        next: "There is no need to ask again: the build's thread will show the result.",
      }

const PROJECT_WORDS: Record<ProjectAction, string> = {
  'create-project': '*Creating* the project',
  'edit-project': '*Changing* the project',
  'reset-aes-key': '*Resetting* the AES key of',
  run: '*Running*',
}

// The process that called CI has stopped or died, so the outcome is looked up.
const soFarOf = ({ state }: Recorded): string =>
  state === 'calling'
    ? 'A request to CI was in progress. Buildline checks the result and does not send it again.'
    : SO_FAR[state]

/** CI was not called, because our own database could not be reached or something else failed first. */
export const answerUndone = (reference: string): Answer =>
  answerError(
    {
      what: ':warning: *That did not work*: nothing was done.',
      why: 'Something failed before anything was changed; most often the database did not answer in time.',
      next: 'Try again in a minute. If it fails again, give a workspace admin the reference.',
    },
    reference,
  )
