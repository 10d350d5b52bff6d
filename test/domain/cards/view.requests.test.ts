import { describe, expect, it } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import type { RequestState } from '../../../src/domain/cards/request.ts'
import { restartRequests } from '../../../src/domain/cards/request.ts'
import { foldAttempts } from '../../../src/domain/builds/attempt.ts'
import type { ShownRequest } from '../../../src/domain/cards/view.ts'
import {
  buildId,
  attemptsOf,
  capabilitiesWith,
  LIN,
  MINUTE,
  OUT_OF_REACH,
  request,
  story,
  type Known,
  type Said,
} from '../../support/build-events.ts'
import { told } from '../support/telling.ts'

const UUID = toUuid('11111111-aaaa-0000-0000-000000000001')
const BASIC: Known = { v2: true, legacy: true, project: { uuid: UUID, legacyId: '41', type: 'basic' } }
const PRO: Known = { v2: true, legacy: true, project: { uuid: UUID, legacyId: null, type: 'pro' } }

const ran: readonly Said[] = [
  { word: 'initiated', after: 0 },
  { word: 'error', after: MINUTE },
]
/** Lin makes the request ten minutes after the story begins; the build runs again after that. */
const again: Said = { word: 'initiated', after: 11 * MINUTE }

/** The story of a card with these requests and the attempts that they led to. */
const toldAsked = (requests: readonly Parameters<typeof request>[0][], ...said: readonly Said[]) => {
  const made = requests.map((change) => request(change))
  const attempts = foldAttempts(story(...said), restartRequests(made))
  return told([...said], { requests: made, attempts, capabilities: capabilitiesWith(BASIC, attempts, made) })
}

describe('the buttons of a card', () => {
  it.each<[claim: string, said: (string | Said)[], known: Known, offers: string[], missing: object | null]>([
    ['a running build can be stopped', ['initiated'], BASIC, ['stop'], null],
    ['a finished build can be restarted', ['initiated', 'error'], BASIC, ['restart'], null],
    ['a build that was not built can be restarted', ['ignored'], BASIC, ['restart'], null],
    ['a waiting build has none, without a reason', ['waiting'], BASIC, [], null],
    ['a finished Pro build says why', ['error'], PRO, [], { action: 'restart', why: 'pro-project' }],
    ['a running Pro build says why', ['initiated'], PRO, [], { action: 'stop', why: 'no-build-uuid' }],
    ['a running build that CI cannot stop says why', ['initiated'], OUT_OF_REACH, [], { action: 'stop', why: 'no-v2' }],
    [
      'a finished one that CI cannot restart says why',
      ['error'],
      OUT_OF_REACH,
      [],
      { action: 'restart', why: 'no-legacy' },
    ],
  ])('%s', (_, said, known, offers, missing) => {
    const capabilities = capabilitiesWith(known, attemptsOf(...said))
    expect(told(said, { capabilities }).card).toMatchObject({ offers, missing })
  })

  it('name the newest attempt', () => {
    expect(told([...ran, 'initiated']).card.ref).toBe('41/512.2')
    expect(told([...ran, { word: 'initiated', build: '513' }]).card.ref).toBe('41/513.1')
  })

  it('disappear after a request, without a reason, and return for the next attempt', () => {
    expect(toldAsked([{}], ...ran).card).toMatchObject({ offers: [], missing: null })
    expect(toldAsked([{}], ...ran, again).card).toMatchObject({ offers: ['stop'], ref: '41/512.2' })
  })

  it('return after a refusal', () => {
    expect(toldAsked([{ state: 'refused' }], ...ran).card.offers).toEqual(['restart'])
  })
})

describe('the last request', () => {
  const STAGES: Record<RequestState, ShownRequest['stage']> = {
    calling: 'asked',
    accepted: 'asked',
    unclear: 'unclear',
    confirmed: 'confirmed',
    refused: 'refused',
    unconfirmed: 'unconfirmed',
  }

  it.each(Object.entries(STAGES) as [RequestState, ShownRequest['stage']][])(
    'in the state %s shows as %s',
    (state, stage) => {
      const { card, requests } = toldAsked([{ state }], ...ran)
      expect(card.request).toEqual({ action: 'restart', by: LIN, stage, code: null })
      expect(requests.map(({ view }) => view)).toMatchObject([{ kind: 'request', action: 'restart', by: LIN, stage }])
    },
  )

  it.each<[RequestState, string | null]>([
    ['calling', null],
    ['accepted', null],
    ['confirmed', null],
    ['refused', 'not-found'],
    ['unclear', 'not-found'],
    ['unconfirmed', 'not-found'],
  ])('in the state %s shows the code %s', (state, code) => {
    expect(toldAsked([{ state, code: 'not-found' }], ...ran).card.request).toMatchObject({ code })
  })

  it('is not shown if there is none, or only one about another attempt', () => {
    expect(toldAsked([], ...ran).card.request).toBeNull()
    expect(toldAsked([{ action: 'stop', state: 'confirmed' }], ...ran, again).card.request).toBeNull()
  })

  it('is shown on the attempt that the restart led to', () => {
    expect(toldAsked([{ state: 'confirmed' }], ...ran, again).card.request).toMatchObject({
      by: LIN,
      stage: 'confirmed',
    })
  })
})

describe('the lines about requests in the thread', () => {
  it('are one for each request, oldest first, each with its own slot', () => {
    const { requests } = toldAsked([{ id: 'a', state: 'refused' }, { id: 'b' }], ...ran)
    expect(requests.map(({ slot, view }) => `${slot} ${view.stage}`)).toEqual(['ask:a refused', 'ask:b asked'])
    expect(toldAsked([], ...ran).requests).toEqual([])
  })

  it('say which attempt a restart led to, of the same build or another', () => {
    expect(toldAsked([{ state: 'confirmed' }], ...ran, again).requests[0]!.view).toMatchObject({
      buildId: '512',
      outcome: { shown: 'started', buildId: '512', attemptNumber: 2 },
    })
    const anew = { state: 'confirmed', newBuildId: buildId('513') } as const
    expect(toldAsked([anew], ...ran, { ...again, build: '513' }).requests[0]!.view).toMatchObject({
      buildId: '512',
      outcome: { shown: 'started', buildId: '513', attemptNumber: 2 },
    })
  })

  it('do not change while the restarted build runs', () => {
    const state = 'confirmed'
    const later: Said = { word: 'error', after: 20 * MINUTE }
    expect(toldAsked([{ state }], ...ran, again, later).requests).toEqual(
      toldAsked([{ state }], ...ran, again).requests,
    )
  })

  it('say how a build ended after a request to stop it', () => {
    const stop = { action: 'stop', state: 'confirmed' } as const
    const ended = (word: string) => toldAsked([stop], { word: 'initiated' }, { word }).requests[0]!.view.outcome
    expect(ended('stopped')).toEqual({ shown: 'stopped', buildId: '512', attemptNumber: 1 })
    expect(ended('success')).toMatchObject({ shown: 'passed' })
  })

  it('have no outcome before an event shows one, and never after a refusal', () => {
    expect(toldAsked([{ state: 'accepted' }], ...ran).requests[0]!.view.outcome).toBeNull()
    expect(toldAsked([{ state: 'refused' }], ...ran, { ...again, build: '513' }).requests[0]!.view.outcome).toBeNull()
    const stop = { action: 'stop', state: 'refused' } as const
    expect(toldAsked([stop], { word: 'initiated' }, { word: 'stopped' }).requests[0]!.view.outcome).toBeNull()
  })
})
