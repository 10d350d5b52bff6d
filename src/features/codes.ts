import type { CiErrorKind } from '../sources/ci-service/errors.ts'
import { CONFIRM_WITHIN_MS, type Action } from '../domain/request.ts'
import { outside } from '../slack/messages/build.ts'
import { WORD_CHARS_MAX } from '../slack/messages/limits.ts'
import { durationWords } from '../slack/messages/times.ts'

// What CI's errors mean to a person, and what to do next: one set of words for reading, one for what was surely not
// done, one for what may have been done.

/** Why, and the one next step. */
export interface Words {
  why: string
  next: string
}

/** CI could not be asked: nothing was done. */
export const troubleWords = (code: string): Words => (isKnown(code) ? READING[code] : unknownWords(code))

/** CI surely did not do what it was asked. */
export const refusedWords = (code: string, action: Action): Words =>
  isKnown(code) ? REFUSED[action][code] : unknownWords(code)

/** CI may have done it. */
export function unclearWords(code: string, action: Action): Words {
  const why = isKnown(code) ? UNCLEAR[code] : unknownWords(code).why
  return { why, next: LOOK[action] }
}

const isKnown = (code: string): code is CiErrorKind => Object.hasOwn(READING, code)

export const unknownWords = (code: string): Words => ({
  why: `CI answered with an error that Buildline does not know (${outside(code, WORD_CHARS_MAX) || 'no code'}).`,
  next: 'Tell a workspace admin, with the reference below.',
})

export const LATER = 'Try again in a few minutes.'
const CREDENTIALS = "CI refused Buildline's credentials: they are no longer good."
const SLOW_DOWN = 'CI has had too many requests just now.'
const FAULT = 'CI has a fault of its own.'
const NO_ANSWER = 'CI did not answer in time.'
const NOT_REACHED = 'CI could not be reached.'
const UNREADABLE = 'CI answered in a form that Buildline cannot read.'
const TOO_LONG = 'CI answered with more than Buildline reads.'
const CHECK_SETTINGS = "Ask a workspace admin to check the CI addresses in Buildline's settings."
/** The next step where another look may tell more. */
export const REFRESH = 'Press *Refresh* to see its state now.'

const READING: Record<CiErrorKind, Words> = {
  'bad-request': {
    why: 'CI did not understand the question.',
    next: 'Tell a workspace admin: asking again will not help.',
  },
  unauthorized: { why: CREDENTIALS, next: 'Tell a workspace admin: they have to be renewed.' },
  forbidden: {
    why: "Buildline's credentials lack the right to read this in CI.",
    next: 'Ask a workspace admin to give them that right in CI.',
  },
  'not-found': { why: 'CI knows nothing under the address that Buildline asked.', next: CHECK_SETTINGS },
  'rate-limited': { why: SLOW_DOWN, next: LATER },
  server: { why: FAULT, next: LATER },
  timeout: { why: NO_ANSWER, next: LATER },
  unreachable: { why: NOT_REACHED, next: LATER },
  shape: { why: UNREADABLE, next: CHECK_SETTINGS },
  'too-large': { why: TOO_LONG, next: 'Tell a workspace admin, with the reference below.' },
}

const REFUSED: Record<Action, Record<CiErrorKind, Words>> = {
  stop: {
    'bad-request': { why: 'It is probably not running any more.', next: REFRESH },
    unauthorized: {
      why: CREDENTIALS,
      next: 'Tell a workspace admin: until they are renewed, stop builds in CI itself.',
    },
    forbidden: {
      why: "Buildline's credentials lack the right to stop builds.",
      next: 'Ask a workspace admin to give them that right in CI.',
    },
    'not-found': { why: 'CI knows no such running build: it is probably over.', next: REFRESH },
    'rate-limited': { why: `${SLOW_DOWN} The build goes on.`, next: LATER },
    server: { why: `${FAULT} The build goes on.`, next: LATER },
    timeout: { why: `${NO_ANSWER} The build goes on.`, next: LATER },
    unreachable: { why: `${NOT_REACHED} The build goes on.`, next: LATER },
    shape: { why: `${UNREADABLE} The build goes on.`, next: CHECK_SETTINGS },
    'too-large': { why: `${TOO_LONG} The build goes on.`, next: 'Stop it in CI itself.' },
  },
  restart: {
    'bad-request': { why: 'CI does not restart it as it is now: perhaps it runs again already.', next: REFRESH },
    unauthorized: {
      why: "CI refused Buildline's API key: it is no longer good.",
      next: 'Tell a workspace admin: until it is renewed, restart builds in CI itself.',
    },
    forbidden: {
      why: "Buildline's API key lacks the right to restart builds.",
      next: 'Ask a workspace admin for a key that has it.',
    },
    'not-found': { why: 'CI knows no such build any more.', next: 'Start a new build of the branch in CI itself.' },
    'rate-limited': { why: `${SLOW_DOWN} Nothing was started.`, next: LATER },
    server: { why: `${FAULT} Nothing was started.`, next: LATER },
    timeout: { why: `${NO_ANSWER} Nothing was started.`, next: LATER },
    unreachable: { why: `${NOT_REACHED} Nothing was started.`, next: LATER },
    shape: { why: `${UNREADABLE} Nothing was started.`, next: CHECK_SETTINGS },
    'too-large': { why: `${TOO_LONG} Nothing was started.`, next: 'Restart it in CI itself.' },
  },
}

const UNCLEAR: Record<CiErrorKind, string> = {
  'bad-request': 'CI did not understand, but may have acted all the same.',
  unauthorized: `${CREDENTIALS} It may have acted all the same.`,
  forbidden: 'CI refused, but may have acted all the same.',
  'not-found': 'CI answered that it knows no such build, but may have acted all the same.',
  'rate-limited': `${SLOW_DOWN} It may have acted all the same.`,
  server: 'CI failed while it answered, and may have acted all the same.',
  timeout: 'CI took too long to answer, and may have acted all the same.',
  unreachable: 'The connection to CI broke before the answer came.',
  shape: "CI's answer could not be read.",
  'too-large': "CI's answer was too long to read.",
}

const WAIT = durationWords(CONFIRM_WITHIN_MS)

const LOOK: Record<Action, string> = {
  stop: `Wait ${WAIT}, then press *Refresh*: Buildline looks whether the build stops, and does not ask CI twice.`,
  restart: `Wait ${WAIT}, then press *Refresh*: Buildline looks whether it runs again, and does not ask CI twice.`,
}
