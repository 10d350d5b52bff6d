import { describe, expect, it } from 'vitest'
import type { CiErrorKind } from '../../src/sources/http/errors.ts'
import type { Action } from '../../src/domain/cards/request.ts'
import { answerAction } from '../../src/features/builds/action-messages.ts'
import type { AnswerContext } from '../../src/slack/messages/answer.ts'
import { answerFault } from '../../src/features/kit/fault-messages.ts'
import { answerNotAllowed, HELPERS_MAX } from '../../src/features/kit/not-allowed.ts'
import { buildOf, CAST, REFERENCE } from '../../packages/demo/src/samples/cast.ts'
import type { Sample } from '../../packages/demo/src/samples/sample.ts'
import { samplesOf } from '../../packages/demo/src/samples/samples.ts'
import { CODES } from '../../packages/demo/src/samples/words.ts'
import { buttonsOf, linesOf, ROWS } from './answers-stage.ts'
import type { ActionOutcome } from '../../src/features/builds/action.ts'

/** The kinds of outcomes that are no errors, beside those with the name of their command. All others are errors. */
const WELL: readonly string[] = [
  'help all',
  'help one',
  'help unknown',
  'list projects',
  'status channel-status',
  'stop running',
  'run started',
  'red own-changed',
  'me claimed',
  'me given',
  'me released',
  'me mentions',
  'doctor findings',
  'subscribe subscribed',
  'subscribe same',
  'unsubscribe unsubscribed',
  'unsubscribe which',
  'import proposed',
  'import button-imported',
  'status project-status',
  'digest set',
  'digest same',
  'digest off',
  'digest preview',
  'rules dry-run',
  'project edit-edited',
  'project edit-no-difference',
  'project create-created',
  'project reset-reset',
  'any found',
  'any slow',
]
const DONE = ['requested', 'asked-already', 'repeated']
/** Outcomes caused by an error in Buildline, CI or Slack. The log says more about them. */
const LOGGED = ['ci-refused', 'ci-trouble', 'unclear', 'fault', 'unknown-person', 'interrupted', 'undone', 'not-opened']
const isLogged = ({ command, kind, answer }: Sample): boolean =>
  `${command} ${kind}` !== 'subscribe unclear' &&
  (LOGGED.some((one) => kind.endsWith(one)) || answer.text.includes("Slack's code"))

const samples = await samplesOf(ROWS)
const isError = ({ command, kind }: Sample) =>
  kind !== command && !WELL.includes(`${command} ${kind}`) && !DONE.includes(kind)
const errors = samples.filter(isError)

const asked: AnswerContext = { command: 'stop', branch: null, reference: REFERENCE }
const CI_CODES = Object.keys(CODES) as CiErrorKind[]
const ACTIONS: readonly Action[] = ['stop', 'restart']

describe('an error message', () => {
  it('says in its first line what happened, and has exactly one next step', () => {
    expect(errors.length).toBeGreaterThan(100)
    for (const { command, kind, answer } of errors) {
      const end = `${command} ${kind}`
      const lines = linesOf(answer)
      expect(lines[0]).toMatch(/^:\w+: .*\*[^*]+\*/)
      // The kinds without a next step are those in WELL, above.
      expect({ end, nextSteps: lines.filter((line) => line.startsWith('*Next:* ')).length }).toEqual({
        end,
        nextSteps: 1,
      })
    }
  })

  it('shows the reference of its log line, in text and blocks, if an operator can look something up', () => {
    for (const error of errors) {
      const { kind, answer } = error
      const wanted = isLogged(error) ? `Reference: \`${REFERENCE}\`` : null
      const last = linesOf(answer).at(-1)!
      expect({ kind, last: last.startsWith('Reference') ? last : null }).toEqual({ kind, last: wanted })
      if (wanted) expect(JSON.stringify(answer.blocks)).toContain(wanted)
    }
  })

  it('is not shown for successful outcomes, which have no reference', () => {
    for (const { answer } of samples.filter((one) => !isError(one))) expect(answer.text).not.toContain('Reference')
  })

  it('has a reference if the error was unexpected', () => {
    expect(answerFault('zz9').text).toContain('`zz9`')
  })
})

const refused = (action: Action, code: string, reason: string | null = null): ActionOutcome => ({
  kind: 'ci-refused',
  action,
  code,
  reason,
  build: buildOf(CAST, action === 'stop' ? 'started' : 'failed'),
})

const unclear = (action: Action, code: string): ActionOutcome => ({
  kind: 'unclear',
  action,
  code,
  build: buildOf(CAST, action === 'stop' ? 'started' : 'failed'),
})

const labels = (outcome: ActionOutcome) => buttonsOf(answerAction(outcome, asked)).map(({ text }) => text.text)

describe('the message about a request that CI refused', () => {
  it.each(ACTIONS)('to %s has its own words for every code, and names project, build and branch', (action) => {
    const texts = CI_CODES.map((code) => answerAction(refused(action, code), asked).text)
    expect(new Set(texts).size).toBe(CI_CODES.length)
    for (const text of texts) expect(text).toMatch(/^:x: \*Not (?:stopped|restarted)\*: acme\/web .*#512.* on `main`/)
  })

  it.each(CI_CODES)('differs for stop and restart: %s', (code) => {
    expect(answerAction(refused('stop', code), asked).text).not.toBe(answerAction(refused('restart', code), asked).text)
  })

  it.each(['bad-request', 'not-found'])('for %s says that the build has probably ended', (code) => {
    const outcome = refused('stop', code)
    expect(answerAction(outcome, asked).text).toContain('probably')
    expect(answerAction(outcome, asked).text).toContain('*Next:* Press *Refresh*')
    expect(labels(outcome)).toEqual(['Open build', 'Refresh'])
  })

  it.each(ACTIONS)('says for a %s without credentials that an admin must be told', (action) => {
    expect(answerAction(refused(action, 'unauthorized'), asked).text).toContain('*Next:* Tell a workspace admin')
  })

  it("contains CI's own words, escaped, if there are any", () => {
    expect(answerAction(refused('stop', 'forbidden', '<!here> no'), asked).text).toContain('CI said: &lt;!here&gt; no')
    expect(answerAction(refused('stop', 'forbidden'), asked).text).not.toContain('CI said')
  })

  it('says that the reason is unknown, and names its code', () => {
    const { text } = answerAction(refused('stop', '<teapot>'), asked)
    expect(text).toContain('unknown error (&lt;teapot&gt;)')
    expect(text).toContain('*Next:* ')
    expect(answerAction(refused('stop', 'toString'), asked).text).toContain('unknown error (toString)')
  })
})

describe('the message about a request with an unknown outcome', () => {
  it.each(ACTIONS)('to %s does not say that it was done or not done, and asks to look, not to repeat', (action) => {
    const texts = CI_CODES.map((code) => answerAction(unclear(action, code), asked).text)
    expect(new Set(texts).size).toBe(CI_CODES.length)
    for (const text of texts) {
      expect(text).toMatch(/^:grey_question: \*Unclear whether CI/)
      expect(text).toMatch(/\*Next:\* Wait 2 min, then press \*Refresh\*: .* does not ask CI twice/)
      expect(text).not.toMatch(/Try again|Not stopped|Not restarted/)
    }
    expect(labels(unclear(action, 'timeout'))).toEqual(['Open build', 'Refresh'])
  })
})

describe('the message that Slack did not identify a person', () => {
  const answerTo = (code: string) =>
    answerNotAllowed({ kind: 'unknown-person', code }, { action: 'stop', reference: REFERENCE }).text

  it.each(['missing_scope', 'user_not_found', 'ratelimited', 'http_503', 'toString'])('names the code %s', (code) => {
    expect(answerTo(code)).toContain(`(Slack's code: ${code})`)
    expect(answerTo(code)).toContain('*Next:* Try again in a minute.')
  })
})

describe('the message that a person may not do something', () => {
  const no = (who: readonly string[]) => ({ kind: 'no', why: 'not-listed', who }) as const
  const about = { action: 'stop', reference: REFERENCE } as const

  it('names the people and groups who may, as in the settings', () => {
    const { text } = answerNotAllowed(no(['U0LIN', 'W0GUS', 'S0OPS']), about)
    expect(text).toContain('*Next:* Ask someone who can: <@U0LIN>, <@W0GUS>, <!subteam^S0OPS>.')
  })

  it('names an admin if nobody is listed, or only without ids', () => {
    for (const who of [[], ['<!channel>', 'ada', 'S0 OPS|x']]) {
      expect(answerNotAllowed(no(who), about).text).toContain('*Next:* Ask a workspace admin')
    }
  })

  it('has at most ten names, and counts the others', () => {
    const ids = Array.from({ length: HELPERS_MAX + 1 }, (_, at) => `U0${100 + at}`)
    const ten = answerNotAllowed(no(ids.slice(0, HELPERS_MAX)), about).text
    const eleven = answerNotAllowed(no(ids), about).text
    expect(ten.match(/<@/g)).toHaveLength(HELPERS_MAX)
    expect(ten).not.toContain('more')
    expect(eleven.match(/<@/g)).toHaveLength(HELPERS_MAX)
    expect(eleven).toContain(' and 1 more.')
  })

  it('says what was requested: stop, restart or reading', () => {
    const wishes = (['stop', 'restart', null] as const).map(
      (action) => /you cannot ([a-z ]+)\./.exec(answerNotAllowed(no([]), { action, reference: 'r' }).text)?.[1],
    )
    expect(wishes).toEqual(['stop builds', 'restart builds', 'see builds'])
  })
})
