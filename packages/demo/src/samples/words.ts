import type { CiErrorKind } from '../../../../src/sources/http/errors.ts'
import type { Permit } from '../../../../src/slack/api/permission.ts'
import type { Shown } from '../../../../src/domain/cards/view.ts'
import { invariant } from '../../../../src/lib/assert.ts'
import type { CiFailure } from '../../../../src/projects/outcomes.ts'
import type { Cast } from './cast.ts'

// At least one ending of every kind of every operation: the compiler misses a new kind, a new code, a new state.

/** One ending, and when it comes, in words. */
export interface Case<Outcome> {
  when: string
  outcome: Outcome
}

/** Cases for every kind of outcome; none may be empty. */
export type Cases<Outcome extends { kind: string }> = {
  [Kind in Outcome['kind']]: readonly [
    Case<Extract<Outcome, { kind: Kind }>>,
    ...Case<Extract<Outcome, { kind: Kind }>>[],
  ]
}

export type No = Extract<Permit, { kind: 'no' }>
export type Of<Outcome, Kind> = Extract<Outcome, { kind: Kind }>
export type Some<Outcome> = readonly [Case<Outcome>, ...Case<Outcome>[]]

/** A case for every word of a union. `words` is a record, so that none is left out; `so` ends each `when`. */
export function each<Word extends string, Outcome>(
  words: Record<Word, string>,
  caseOf: (word: Word) => Outcome,
  so = '',
): Some<Outcome> {
  const names = Object.keys(words).filter((word): word is Word => Object.hasOwn(words, word))
  const [first, ...others] = names.map((word) => ({ when: `${words[word]}${so}`, outcome: caseOf(word) }))
  invariant(first, 'a union has words')
  return [first, ...others]
}

export const CODES: Record<CiErrorKind, string> = {
  'bad-request': 'CI answers 400',
  unauthorized: 'CI answers 401',
  forbidden: 'CI answers 403',
  'not-found': 'CI answers 404',
  'rate-limited': 'CI answers 429',
  server: 'CI answers 5xx',
  timeout: 'CI does not answer in time',
  unreachable: 'CI cannot be reached',
  certificate: "CI's certificate is not accepted",
  shape: 'CI answers in another form',
  'too-large': 'CI answers with too much',
}

export const BUILD_STATES: Record<Shown, string> = {
  queued: 'the build is queued',
  requested: 'the build was requested, and does not run yet',
  started: 'the build runs',
  waiting: 'the build waits',
  passed: 'the build has passed',
  fixed: 'the build has passed, and so fixed its branch',
  flaky: 'the build has passed, after it had failed on the same commit',
  failed: 'the build has failed',
  infrastructure_failure: "CI's machine has failed",
  stopped: 'the build was stopped',
  ignored: 'the monthly limit was reached',
  blocked: 'CI blocked the build',
  quota_exceeded: 'the compute minutes are used up',
  skipped: 'the build was skipped',
  unknown: 'CI says a word that Buildline does not know',
}

const NO: Record<No['why'], string> = {
  guest: 'the asker is a guest',
  outsider: 'the asker is of another workspace',
  deactivated: "the asker's account is deactivated",
  bot: 'the asker is a bot',
  'not-listed': 'the asker is not among the operators',
  'not-admin': 'the requester is not an admin',
}

/** Everybody who may not, with those who may where the settings name them. */
export const refusals = (cast: Cast): Some<No> =>
  each(NO, (why) => ({ kind: 'no', why, who: why === 'not-listed' ? [cast.user, cast.group] : [] }))

export const ciTrouble = (cast: Cast, so = ''): Some<CiFailure> =>
  each(CODES, (code) => ({ kind: 'ci-trouble', code, reason: code === 'forbidden' ? cast.reason : null }), so)
