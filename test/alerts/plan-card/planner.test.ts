import { describe, expect, test } from 'vitest'
import type { MessageTs } from '../../../src/domain/ids.ts'
import {
  postedAttemptShown,
  viewDigest,
  GENERATIONS_MAX,
  LANDING_MAX_MS,
  queuesOf,
  NO_QUEUES,
  NOTICE_GAP_MS,
  planNotice,
  planStory,
  replacedCard,
  settleDead,
  type PlannedStep,
  type StoredMessage,
} from '../../../src/domain/cards/plan.ts'
import type { Request } from '../../../src/domain/cards/request.ts'
import { noticeView } from '../../../src/domain/cards/view.ts'
import { postedAttemptOf, storyFor, type Story } from '../../../src/domain/cards/story.ts'
import {
  messageTs,
  MINUTE,
  OUT_OF_REACH,
  capabilitiesWith,
  request,
  attemptsOf,
  SECOND,
  T0,
  type Said,
} from '../../support/build-events.ts'

const TS = messageTs('1772460000.000100')
const NOW = T0 + 10 * MINUTE

const tell = (
  said: readonly (string | Said)[],
  postedAttempt: string | null = null,
  requests: readonly Request[] = [],
): Story => {
  const attempts = attemptsOf(...said)
  return storyFor({
    attempts,
    judgements: new Map(),
    failures: new Map(),
    isAnnounced: () => true,
    isLoud: () => false,
    postedAttempt,
    quiet: false,
    mentionOf: () => null,
    isUnclaimed: () => false,
    proposed: null,
    replaces: null,
    ownership: null,
    changes: [],
    reminders: new Map(),
    requests,
    capabilities: capabilitiesWith(OUT_OF_REACH, attempts),
  })
}

const message = (changes: Partial<StoredMessage> = {}): StoredMessage => ({
  key: 'key-1',
  slot: 'card',
  generation: 1,
  state: 'posted',
  claimedAt: NOW - MINUTE,
  claimedBy: 'process-1',
  lookedAt: null,
  ts: TS,
  digest: null,
  sending: null,
  sendingAt: null,
  recheckAt: null,
  doubtAt: null,
  writtenAt: null,
  postedAttempt: null,
  ...changes,
})

const briefly = (steps: readonly PlannedStep[]): string[] =>
  steps.map(({ step, at, priority }) => {
    const slot =
      step.queue === 'post' ? `${step.slot} ${step.generation}${step.again ? ' again' : ''}` : step.message.slot
    return `${step.queue} ${slot} +${(at - NOW) / SECOND}s p${priority}`
  })

describe('the steps for a card', () => {
  const story = tell(['initiated', 'error'])
  const digest = viewDigest(story.card)
  const unclear = (changes: Partial<StoredMessage> = {}) => message({ state: 'unclear', ts: null, digest, ...changes })
  const landedBy = NOW - MINUTE + LANDING_MAX_MS

  test.each<[claim: string, stored: StoredMessage[], steps: string[]]>([
    ['posts a card first, and replies only after it', [], ['post card 1 +0s p0']],
    ['does nothing while a post is under way', [message({ state: 'claimed', ts: null })], []],
    ['looks at once for a post with an unknown outcome', [unclear()], ['look card +0s p0']],
    [
      'looks again when everything in flight has landed',
      [unclear({ claimedAt: NOW, lookedAt: NOW })],
      ['look card +20s p0'],
    ],
    ['does not post again if the look was too early', [unclear({ lookedAt: landedBy - 1 })], ['look card +-40s p0']],
    ['posts again if a late look found nothing', [unclear({ lookedAt: landedBy })], ['post card 1 again +0s p0']],
    ['posts a deleted card anew', [message({ state: 'gone' })], ['post card 2 +0s p0']],
    ['does not post it anew a second time', [message({ state: 'gone', generation: GENERATIONS_MAX })], []],
    [
      'does not begin an edit while one is under way',
      [message({ sending: 'x', digest: 'x' })],
      ['post run:512.1 1 +0s p0'],
    ],
    ['edits an outdated card', [message({ digest: 'x' })], ['edit card +0s p0', 'post run:512.1 1 +0s p0']],
    ['edits a card if nobody knows what it shows', [message()], ['edit card +0s p0', 'post run:512.1 1 +0s p0']],
    [
      'repeats an edit later if an earlier one could still land',
      [
        message({ digest, recheckAt: NOW + SECOND }),
        message({ slot: 'run:512.1', digest: viewDigest(story.replies[0]!.view) }),
      ],
      ['edit card +1s p0'],
    ],
    [
      'looks for a second copy of a card that was posted again',
      [
        message({ digest, doubtAt: NOW + SECOND }),
        message({ slot: 'run:512.1', digest: viewDigest(story.replies[0]!.view) }),
      ],
      ['look card +1s p4'],
    ],
    [
      'does nothing if the thread is up to date',
      [message({ digest }), message({ slot: 'run:512.1', digest: viewDigest(story.replies[0]!.view) })],
      [],
    ],
    ['does not post a deleted reply again', [message({ digest }), message({ slot: 'run:512.1', state: 'gone' })], []],
  ])('%s', (_claim, stored, steps) => {
    expect(briefly(planStory(story, stored, NOW))).toEqual(steps)
  })

  test('are none if only the person differs who is asked whether the name is theirs', () => {
    for (const view of [story.card, story.replies[0]!.view])
      expect(viewDigest({ ...view, proposed: 'U0ADA00001' })).toBe(viewDigest(view))
  })
})

describe('the line about a request', () => {
  const asked = tell(['error'], '512.1', [request({ state: 'accepted' })])
  const card = message({ digest: viewDigest(asked.card) })
  const line = message({ key: 'key-2', slot: 'ask:request-1', digest: viewDigest(asked.requests[0]!.view) })

  test('is posted in the thread once the card is posted, and soon, since the requester is waiting for it', () => {
    expect(briefly(planStory(asked, [card], NOW))).toEqual(['post ask:request-1 1 +0s p1'])
    expect(planStory(asked, [card], NOW)[0]!.step).toMatchObject({ thread: TS })
    expect(briefly(planStory(asked, [], NOW))).toEqual(['post card 1 +0s p0'])
  })

  test("is edited when the request's state changes, and only then", () => {
    expect(planStory(asked, [card, line], NOW)).toEqual([])
    const refused = tell(['error'], '512.1', [request({ state: 'refused', code: 'forbidden' })])
    const steps = briefly(planStory(refused, [card, line], NOW))
    expect(steps).toEqual(['edit card +0s p0', 'edit ask:request-1 +0s p1'])
  })
})

test.each<[words: string[], priority: number]>([
  [['error'], 0],
  [['infrastructure_failure'], 0],
  [['waiting'], 1],
  [['success'], 2],
  [['stopped'], 2],
  [['initiated'], 3],
  [['paused'], 3],
])('a card of %s has the urgency %i', (words, priority) => {
  expect(planStory(tell(words), [], NOW).map((planned) => planned.priority)).toEqual([priority])
})

test('only the reply about the newest attempt is urgent', () => {
  const story = tell(['initiated', 'error', 'initiated', { word: 'error', after: 5 * MINUTE }])
  const steps = planStory(story, [message({ digest: viewDigest(story.card) })], NOW)
  expect(briefly(steps)).toEqual(['post run:512.1 1 +0s p4', 'post run:512.2 1 +0s p0'])
})

test("if there is a request, the reply about the earlier attempt is as urgent as the request's line, and comes first", () => {
  const story = tell(['error', { word: 'initiated', after: 11 * MINUTE }], '512.1', [request({ state: 'confirmed' })])
  const steps = planStory(story, [message({ digest: viewDigest(story.card) })], NOW)
  expect(briefly(steps)).toEqual(['post run:512.1 1 +0s p1', 'post ask:request-1 1 +0s p1'])
})

test('a changed mention or broadcast of a reply never causes an edit, a changed text does', () => {
  const reply = tell(['initiated', 'error']).replies[0]!.view
  expect(viewDigest({ ...reply, mention: 'U0ADA00001', broadcast: true, isLate: true })).toBe(viewDigest(reply))
  expect(viewDigest({ ...reply, shown: 'passed' })).not.toBe(viewDigest(reply))
  expect(viewDigest({ ...reply, claim: '41/512.1' })).not.toBe(viewDigest(reply))
})

test('a queue is due when its first step is due, and as urgent as its most urgent step', () => {
  const story = tell(['initiated', 'error', 'initiated', { word: 'error', after: 5 * MINUTE }])
  const steps = planStory(story, [message()], NOW).map((planned, i) => ({ ...planned, at: NOW - i }))
  expect(queuesOf(steps)).toEqual({ edit: { at: NOW, priority: 0 }, post: { at: NOW - 2, priority: 0 }, look: null })
  expect(queuesOf(steps.toReversed())).toEqual(queuesOf(steps))
  expect(queuesOf([])).toEqual(NO_QUEUES)
})

describe('after the process that was writing has died', () => {
  const isDead = () => true

  test('its post has an unknown outcome', () => {
    expect(settleDead([message({ state: 'claimed' })], isDead)[0]).toMatchObject({ state: 'unclear' })
  })

  test('its edit may have been made or not, and may still land', () => {
    const sendingAt = NOW - SECOND
    const settled = settleDead([message({ digest: 'x', sending: 'y', sendingAt })], isDead)
    expect(settled[0]).toMatchObject({ digest: null, sending: null, recheckAt: sendingAt + LANDING_MAX_MS })
  })

  test('its finished writes stay as they are, and so do the writes of living processes', () => {
    const ended = [message({ digest: 'x' }), message({ state: 'unclear' }), message({ state: 'gone' })]
    expect(settleDead(ended, isDead)).toEqual(ended)
    const underWay = [message({ state: 'claimed' }), message({ sending: 'y', sendingAt: NOW })]
    expect(settleDead(underWay, () => false)).toEqual(underWay)
  })
})

describe('the attempt that the card announced when it was posted', () => {
  test.each<[claim: string, stored: StoredMessage[], said: string | null | undefined]>([
    ['is undecided before there is a card', [], undefined],
    ['is the one on the posted card', [message({ postedAttempt: '512.1' })], '512.1'],
    ['is the one on the card that is being posted', [message({ state: 'claimed', postedAttempt: '512.1' })], '512.1'],
    ['is null if the card announced none', [message()], null],
    [
      'is undecided again for a new copy of a deleted card',
      [message({ state: 'gone', postedAttempt: '512.1' })],
      undefined,
    ],
    ['is undecided again while nobody knows whether it arrived', [message({ state: 'unclear' })], undefined],
    [
      'is the one on the new card, not on the card that it replaces',
      [message({ state: 'gone' }), message({ generation: 2, postedAttempt: '512.2' })],
      '512.2',
    ],
  ])('%s', (_claim, stored, said) => {
    expect(postedAttemptShown(stored)).toBe(said)
  })

  test('is one that has ended', () => {
    expect(postedAttemptOf(attemptsOf('initiated'))).toBe(null)
    expect(postedAttemptOf(attemptsOf('initiated', 'error'))).toBe('512.1')
  })
})

test('a new card links to the card that it replaces; a first card replaces none', () => {
  const old: MessageTs = messageTs('1772459000.000100')
  expect(replacedCard([message({ state: 'gone', ts: old }), message({ generation: 2 })])).toBe(old)
  expect(replacedCard([message()])).toBe(null)
})

describe('the notice of a day', () => {
  const view = noticeView('2026-03-02', attemptsOf('ignored'))

  test('is posted at once, and edited after a pause that collects more builds', () => {
    expect(briefly(planNotice(view, [], NOW))).toEqual(['post card 1 +0s p2'])
    const stored = message({ digest: 'x', writtenAt: NOW })
    expect(briefly(planNotice(view, [stored], NOW))).toEqual([`edit card +${NOTICE_GAP_MS / SECOND}s p4`])
  })

  test('is not edited if it is up to date', () => {
    expect(planNotice(view, [message({ digest: viewDigest(view) })], NOW)).toEqual([])
  })
})
