import { expect, test } from 'vitest'
import { createOutage } from '../../../src/alerts/send/pace.ts'
import { SECOND, T0 } from '../../support/build-events.ts'
import { createHandClock } from '../../support/hand-clock.ts'

const LOST = { kind: 'unclear', code: 'timeout' } as const
const UNREACHED = { kind: 'unsent', code: 'ECONNREFUSED' } as const
const SENT = { kind: 'sent' } as const

type Heard = Parameters<ReturnType<typeof createOutage>['recordOutcome']>[0]

function after(...outcomes: readonly Heard[]) {
  const outage = createOutage(createHandClock(T0))
  for (const outcome of outcomes) outage.recordOutcome(outcome)
  return outage
}

test('an outage begins after three calls in a row that reach nobody, not after two', () => {
  expect(after(LOST, UNREACHED).reason()).toBe(null)
  expect(after(LOST, UNREACHED, UNREACHED).reason()).toBe('ECONNREFUSED')
})

test('an outage does not begin if any answer comes in between, whatever it says', () => {
  expect(after(LOST, LOST, SENT, LOST, LOST).reason()).toBe(null)
  const limited = { kind: 'rate-limited', code: 'ratelimited', retryAfterMs: SECOND } as const
  expect(after(LOST, LOST, limited, LOST).reason()).toBe(null)
})

test('an outage lasts until Slack answers, and Slack is asked every second', () => {
  const outage = after(LOST, LOST, LOST)
  expect(outage.nextPingAt()).toBe(T0 + SECOND)
  outage.recordOutcome(LOST)
  expect(outage.reason()).toBe('timeout')
  outage.recordOutcome(SENT)
  expect(outage.reason()).toBe(null)
  outage.recordOutcome(LOST)
  expect(outage.reason()).toBe(null)
})

test('a closed workspace is an outage at once, and is asked every 30 seconds', () => {
  const outage = after({ kind: 'workspace-closed', code: 'token_revoked' })
  expect(outage.reason()).toBe('token_revoked')
  expect(outage.nextPingAt()).toBe(T0 + 30 * SECOND)
})

test('a closed channel is no outage', () => {
  expect(after({ kind: 'channel-closed', code: 'is_archived' }).reason()).toBe(null)
})
