import { answerOf, answerError, line, nextStep, type Answer, type Part, typed } from '../../slack/messages/answer.ts'
import { outside } from '../../slack/messages/build.ts'
import { MESSAGE_CHARS_MAX, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import type { CiFailure } from '../../projects/outcomes.ts'
import type { CiErrorKind } from '../../sources/http/errors.ts'
import { CONFIRM_WITHIN_MS, type Action } from '../../domain/cards/request.ts'
import type { SourceName } from '../../domain/ids.ts'
import { durationWords } from '../../slack/messages/times.ts'
import { SOURCE_NAMES, withSourceName } from '../../slack/messages/words.ts'

/** An unexpected error. Its log line has the same reference. */
export const answerFault = (reference: string): Answer =>
  answerError(
    {
      what: ':boom: *That did not work*: Buildline had an unexpected error.',
      why: 'It may or may not have been done. The log has the details.',
      next: 'Try again: nothing is done twice. If it fails again, give a workspace admin the reference.',
    },
    reference,
  )

/** For a click on a button of an older version. */
export const answerOld = (): Answer =>
  answerOf([
    line(':hourglass: *That button is from an older version* of Buildline and no longer works.'),
    line(nextStep(`Type ${typed('/ci help')} to see what works now.`)),
  ])

/** The first answer if the real one takes long. `what`: the command's name, such as `stop`. */
export const answerSlow = (what: string): Answer =>
  answerOf([line(`:hourglass_flowing_sand: Still working on ${typed(what)}. The answer will follow here.`)])

/** Slack did not take a picture, for example because the bot is not in the channel. */
export const answerNoPicture = (): Answer =>
  answerError({
    what: ':warning: *The picture was not posted*: Slack did not take it.',
    why: null,
    next: `Type ${typed('/invite @Buildline')} here, and ask for it again.`,
  })

/** For a form whose metadata is unreadable. */
export const answerOldForm = (): Answer =>
  answerOf([
    line(':hourglass: *This form was opened in another version* of Buildline and no longer works; nothing was done.'),
    line(nextStep('Close it and open it again.')),
  ])

/** For a form that Slack did not open: it opens one only within three seconds of a command or a click. */
export const answerNotOpened = (why: 'mention' | 'late', reference: string): Answer =>
  answerError(
    {
      what: ':warning: *The form could not be opened*; nothing was done.',
      why:
        why === 'late'
          ? 'Slack allows three seconds to open a form, and this took longer.'
          : 'Slack opens forms only from commands and buttons.',
      next: why === 'late' ? 'Try again.' : `Type it as a command, such as ${typed('/ci project edit acme/web')}.`,
    },
    reference,
  )

/** The request to CI failed. `what`: the failed action, a whole line of markup. */
export const answerCiFailure = (
  { code, reason, source = 'ci' }: CiFailure,
  what: string,
  reference: string,
  words = failureWords(code),
): Answer => answerOfSource(source, { what: withSourceName(source, what), ...words }, reason, reference)

/**
 * An error in whose reason and next step `CI` stands for the source.
 * @param reason the source's own words, if it gave any
 */
export function answerOfSource(
  source: SourceName,
  { why, next, ...rest }: Words & { what: string; parts?: readonly Part[] },
  reason: string | null = null,
  reference: string | null = null,
): Answer {
  const said = outside(reason, MESSAGE_CHARS_MAX)
  const whole = [withSourceName(source, why), ...(said === '' ? [] : [`${SOURCE_NAMES[source]} said: ${said}`])]
  return answerError({ ...rest, why: whole, next: withSourceName(source, next) }, reference)
}

// What CI's errors mean, and what to do next: one set of texts for reading, from which those for actions are made, with
// exceptions.

/** The reason, and the one next step. */
export interface Words {
  why: string
  next: string
}

/** Reading from CI failed: nothing was done. */
export const failureWords = (code: string): Words => (isKnown(code) ? READING[code] : unknownWords(code))

/** CI certainly did not carry out the request. */
export function refusedWords(code: string, action: Action): Words {
  if (!isKnown(code)) return unknownWords(code)
  const { why, next } = READING[code]
  return REFUSED[action][code] ?? { why: `${why} ${UNCHANGED[action]}`, next }
}

/** CI may have carried out the request. */
export const unclearWords = (code: string): Words => ({ why: unclearReason(code), next: LOOK })

export const unclearReason = (code: string): string =>
  `${UNCLEAR[code] ?? failureWords(code).why} CI may have done it anyway.`

const isKnown = (code: string): code is CiErrorKind => Object.hasOwn(READING, code)

const unknownWords = (code: string): Words => ({
  why: `CI answered with an unknown error (${outside(code, WORD_CHARS_MAX) || 'no code'}).`,
  next: 'Tell a workspace admin, with the reference below.',
})

const LATER = 'Try again in a few minutes.'
const CREDENTIALS = "CI does not accept Buildline's credentials."
const SLOW_DOWN = 'CI says there were too many requests.'
const TOO_LONG = "CI's answer was too long."
const CHECK_SETTINGS = "Ask a workspace admin to check the CI addresses in Buildline's settings."
/** The next step if the state may change soon. */
export const REFRESH = 'Press *Refresh* to see its state now.'

const READING: Record<CiErrorKind, Words> = {
  'bad-request': {
    why: 'CI did not understand the request.',
    next: 'Tell a workspace admin: trying again will not help.',
  },
  unauthorized: { why: CREDENTIALS, next: 'Ask a workspace admin to renew them.' },
  forbidden: {
    why: "Buildline's credentials lack the right to read this in CI.",
    next: 'Ask a workspace admin to give them that right in CI.',
  },
  'not-found': { why: 'CI found nothing at the address that Buildline used.', next: CHECK_SETTINGS },
  'rate-limited': { why: SLOW_DOWN, next: LATER },
  server: { why: 'CI had an internal error.', next: LATER },
  timeout: { why: 'CI did not answer in time.', next: LATER },
  unreachable: { why: 'CI could not be reached.', next: LATER },
  certificate: {
    why: "Buildline does not accept CI's certificate.",
    next: `Ask a workspace admin to type ${typed('/ci doctor')}.`,
  },
  shape: { why: "Buildline could not read CI's answer.", next: CHECK_SETTINGS },
  'too-large': { why: TOO_LONG, next: 'Tell a workspace admin, with the reference below.' },
}

const UNCHANGED: Record<Action, string> = {
  stop: 'The build is still running.',
  restart: 'Nothing was started.',
  approve: 'It is still waiting.',
  reject: 'It is still waiting.',
  play: 'Nothing was started.',
}

/** Refusals that every action has in common. @param deed `stop builds`, `approve it` */
const refusals = (action: Action, deed: string): Partial<Record<CiErrorKind, Words>> => ({
  unauthorized: { why: CREDENTIALS, next: `Tell a workspace admin: until they are renewed, ${deed} in CI.` },
  forbidden: {
    why: `Buildline's credentials lack the right to ${deed}.`,
    next: 'Ask a workspace admin to give them that right in CI.',
  },
  'too-large': { why: `${TOO_LONG} ${UNCHANGED[action]}`, next: 'Open the build in CI, and do it there.' },
})

const atGate = (action: 'approve' | 'reject' | 'play', deed: string): Partial<Record<CiErrorKind, Words>> => ({
  ...refusals(action, deed),
  'bad-request': { why: 'It probably no longer waits for that: somebody else may have been faster.', next: REFRESH },
  forbidden: {
    why: `CI does not let the owner of Buildline's token ${deed}.`,
    next: `Open the build and ${deed} in CI, or ask a workspace admin to give the token that right.`,
  },
  'not-found': { why: 'CI has nothing there that waits: somebody else may have been faster.', next: REFRESH },
})

/** Refusals that mean something different for an action than for reading. */
const REFUSED: Record<Action, Partial<Record<CiErrorKind, Words>>> = {
  stop: {
    ...refusals('stop', 'stop builds'),
    'bad-request': { why: 'It is probably not running any more.', next: REFRESH },
    'not-found': { why: 'CI has no such running build: it has probably finished.', next: REFRESH },
  },
  restart: {
    ...refusals('restart', 'restart builds'),
    'bad-request': {
      why: 'CI cannot restart it in its current state. It may be running again already.',
      next: REFRESH,
    },
    'not-found': { why: 'CI no longer has this build.', next: 'Start a new build of the branch in CI.' },
  },
  approve: atGate('approve', 'approve it'),
  reject: atGate('reject', 'reject it'),
  play: atGate('play', 'start the job'),
}

/** Reasons that would mislead if CI may have done it. */
const UNCLEAR: Partial<Record<string, string>> = {
  forbidden: 'CI refused.',
  'not-found': 'CI answered that it has no such thing.',
  unreachable: 'The connection to CI broke before the answer came.',
  interrupted: 'The call ended before CI had answered.',
  fault: 'The call ended before CI had answered.',
}

const LOOK = `Wait ${durationWords(CONFIRM_WITHIN_MS)}, then press *Refresh*: Buildline checks what became of it and does not ask CI twice.`
