import { describe, expect, it } from 'vitest'
import { afterEvent, OPEN_STATES, type RequestEvent, type RequestState } from '../../../src/domain/cards/request.ts'
import { request, T0 } from '../../support/build-events.ts'

const NOW = T0 + 5_000

const EVENTS: readonly RequestEvent[] = [
  { kind: 'accepted', lookAt: NOW + 1 },
  { kind: 'refused', code: 'not-found', reason: 'no such build' },
  { kind: 'unclear', code: 'timeout', lookAt: NOW + 2 },
  { kind: 'shown' },
  { kind: 'not-shown', code: 'not-shown' },
  { kind: 'look-later', lookAt: NOW + 3 },
]

const STATES: readonly RequestState[] = [...OPEN_STATES, 'confirmed', 'refused', 'unconfirmed']

/** `accepted: accepted`, for every event that changes the state. */
const changesOf = (state: RequestState): string[] =>
  EVENTS.flatMap((event) => {
    const change = afterEvent(request({ state }), event, NOW)
    return change ? [`${event.kind}: ${change.state}`] : []
  })

describe('the state of a request', () => {
  it('during the call of CI is changed by every outcome of the call and by what CI shows', () => {
    expect(changesOf('calling')).toEqual([
      'accepted: accepted',
      'refused: refused',
      'unclear: unclear',
      'shown: confirmed',
      'not-shown: unconfirmed',
    ])
  })

  it('that is accepted is changed only by what CI shows', () => {
    expect(changesOf('accepted')).toEqual(['shown: confirmed', 'not-shown: unconfirmed', 'look-later: accepted'])
  })

  it('that is unclear is still changed by a late answer', () => {
    expect(changesOf('unclear')).toHaveLength(EVENTS.length)
  })

  it('is final after its end; only an unconfirmed request may be shown late', () => {
    expect(changesOf('confirmed')).toEqual([])
    expect(changesOf('refused')).toEqual([])
    expect(changesOf('unconfirmed')).toEqual(['shown: confirmed'])
  })

  it('has a next look-up while the request is open, and an end otherwise', () => {
    for (const state of STATES)
      for (const event of EVENTS) {
        const change = afterEvent(request({ state }), event, NOW)
        if (!change) continue
        const isOpen = OPEN_STATES.some((open) => open === change.state)
        expect([change.lookAt, change.endedAt]).toEqual(
          isOpen ? ['lookAt' in event && event.lookAt, null] : [null, NOW],
        )
      }
  })

  it('keeps the reason of a refusal, and drops the reason why it was unclear once CI answers', () => {
    expect(afterEvent(request(), EVENTS[1]!, NOW)).toMatchObject({ code: 'not-found', reason: 'no such build' })
    const unclear = request({ state: 'unclear', code: 'interrupted', answeredAt: T0 })
    expect(afterEvent(unclear, EVENTS[0]!, NOW)).toMatchObject({ code: null, reason: null, answeredAt: NOW })
    expect(afterEvent(unclear, { kind: 'look-later', lookAt: NOW }, NOW)).not.toHaveProperty('code')
  })
})
