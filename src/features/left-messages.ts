import { isProjectRequest, type ProjectAction } from '../domain/project-request.ts'
import { ACTION_WORDS } from '../slack/messages/asked.ts'
import { buildNumber, projectName } from '../slack/messages/build.ts'
import { dayTime } from '../slack/messages/times.ts'
import type { Left } from './unanswered.ts'
import { SO_FAR } from './builds/act-messages.ts'
import { answerTrouble, type Answer } from '../slack/messages/answer.ts'
import { typed } from '../slack/messages/typed.ts'

/** To whoever asked and got no answer, since Buildline was interrupted: what is known of it, and what to do. */
export function answerLeft({ interaction, request }: Left, reference: string): Answer {
  const asked = [typed(interaction.what), dayTime(interaction.receivedAt)].filter(Boolean).join(', asked on ')
  const what = `:warning: *Interrupted*: Buildline was stopped before it could answer you (${asked}).`
  return answerTrouble({ what, ...(request ? soFar(request) : withoutRequest(interaction.what)) }, reference)
}

// What a channel follows, and whom a name means, is kept by one write, of which no request tells.
function withoutRequest(asked: string) {
  const [, what = ''] = KEPT.exec(asked) ?? []
  if (what === '') return nothingDone
  return { why: PERHAPS_KEPT, next: what.toLowerCase() === 'me' ? LOOK_AT_NAMES : LOOK_AT_RULES }
}

// `/ci-list me` is a search.
const KEPT = /^(?:(?!\/ci-)\S+ +)?((?:un)?subscribe|me)\b/i

const PERHAPS_KEPT = 'It is kept as a whole, or not at all: nothing is half done.'
const LOOK_AT_RULES = `Type ${typed('/ci rules')} in the channel to see what it follows now, and ask again if need be.`
const LOOK_AT_NAMES = `Type ${typed('/ci me')} to see which names mean you now, and ask again if need be.`

const nothingDone = {
  why: 'Nothing was done: nothing was asked of CI, and nothing will be.',
  next: 'Ask again.',
}

type Recorded = NonNullable<Left['request']>

const soFar = (request: Recorded) =>
  isProjectRequest(request)
    ? {
        why: `${PROJECT_WORDS[request.action]} ${projectName(request)} is recorded. ${soFarOf(request)}`,
        next: `Look at it with ${typed(`/ci project ${request.project}`)} before you ask again.`,
      }
    : {
        why: `*${ACTION_WORDS[request.action]}* of ${projectName(request.target)} ${buildNumber(request)} is recorded. ${soFarOf(request)}`,
        next: "Do not ask again: the build's thread says what comes of it.",
      }

const PROJECT_WORDS: Record<ProjectAction, string> = {
  'create-project': '*Creating* the project',
  'edit-project': '*Changing* the project',
  'reset-aes-key': '*Resetting* the AES key of',
}

// Whoever was calling is stopped or dead: what came of the call is looked up.
const soFarOf = ({ state }: Recorded): string =>
  state === 'calling'
    ? 'CI was being asked just then: Buildline looks what came of it, and does not ask a second time.'
    : SO_FAR[state]

/** Nothing was asked of CI, since our own database could not be reached or something else failed before. */
export const answerUndone = (reference: string): Answer =>
  answerTrouble(
    {
      what: ':warning: *That did not work, and nothing was done*: Buildline could not write it down.',
      why: 'Its database did not take it in time, or could not be read. Nothing was asked of CI.',
      next: 'Ask again in a minute. If it fails again, give a workspace admin the reference.',
    },
    reference,
  )
