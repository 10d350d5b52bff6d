import { describe, expect, test } from 'vitest'
import type { MessageTs } from '../../src/domain/ids.ts'
import {
  postedAttemptSaid,
  digestOf,
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
} from '../../src/domain/plan.ts'
import type { Request } from '../../src/domain/request.ts'
import { noticeView } from '../../src/domain/notice.ts'
import { postedAttemptOf, storyFor, type Story } from '../../src/domain/story.ts'
import { messageTs, MINUTE, OUT_OF_REACH, request, attemptsOf, SECOND, T0, type Said } from '../support/build-events.ts'

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
    streaks: new Map(),
    failedTests: new Map(),
    isAnnounced: () => true,
    isLoud: () => false,
    postedAttempt,
    quiet: false,
    mentionOf: () => null,
    isUnclaimed: () => false,
    proposed: null,
    replaces: null,
    breakage: null,
    changes: [],
    reminders: new Map(),
    requests,
    facilities: OUT_OF_REACH,
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
  const digest = digestOf(story.card)
  const unclear = (changes: Partial<StoredMessage> = {}) => message({ state: 'unclear', ts: null, digest, ...changes })
  const landedBy = NOW - MINUTE + LANDING_MAX_MS

  test.each<[claim: string, stored: StoredMessage[], steps: string[]]>([
    ['posts what was never said, replies not before', [], ['post card 1 +0s p0']],
    ['does nothing while a post is under way', [message({ state: 'claimed', ts: null })], []],
    ['looks for an unclear claim at once', [unclear()], ['look card +0s p0']],
    [
      'looks again when whatever was under way has landed',
      [unclear({ claimedAt: NOW, lookedAt: NOW })],
      ['look card +20s p0'],
    ],
    [
      'does not post again after a look that was too early',
      [unclear({ lookedAt: landedBy - 1 })],
      ['look card +-40s p0'],
    ],
    ['posts again after a late look found nothing', [unclear({ lookedAt: landedBy })], ['post card 1 again +0s p0']],
    ['posts a lost card anew', [message({ state: 'gone' })], ['post card 2 +0s p0']],
    ['does not post it anew a second time', [message({ state: 'gone', generation: GENERATIONS_MAX })], []],
    [
      'does not begin an edit while one is under way',
      [message({ sending: 'x', digest: 'x' })],
      ['post run:512.1 1 +0s p0'],
    ],
    ['edits what says something else', [message({ digest: 'x' })], ['edit card +0s p0', 'post run:512.1 1 +0s p0']],
    ['edits what may say anything', [message()], ['edit card +0s p0', 'post run:512.1 1 +0s p0']],
    [
      'says it again later when an earlier edit could still land',
      [
        message({ digest, recheckAt: NOW + SECOND }),
        message({ slot: 'run:512.1', digest: digestOf(story.replies[0]!.view) }),
      ],
      ['edit card +1s p0'],
    ],
    [
      'looks for a second copy of what was posted again',
      [
        message({ digest, doubtAt: NOW + SECOND }),
        message({ slot: 'run:512.1', digest: digestOf(story.replies[0]!.view) }),
      ],
      ['look card +1s p4'],
    ],
    [
      'does nothing when the thread already agrees',
      [message({ digest }), message({ slot: 'run:512.1', digest: digestOf(story.replies[0]!.view) })],
      [],
    ],
    ['does not say a lost reply again', [message({ digest }), message({ slot: 'run:512.1', state: 'gone' })], []],
  ])('%s', (_claim, stored, steps) => {
    expect(briefly(planStory(story, stored, NOW))).toEqual(steps)
  })

  test('are none where only another person could be asked whose name it is', () => {
    for (const view of [story.card, story.replies[0]!.view])
      expect(digestOf({ ...view, proposed: 'U0ADA00001' })).toBe(digestOf(view))
  })
})

describe('the line of somebody who asked', () => {
  const asked = tell(['error'], '512.1', [request({ state: 'accepted' })])
  const card = message({ digest: digestOf(asked.card) })
  const line = message({ key: 'key-2', slot: 'ask:request-1', digest: digestOf(asked.asks[0]!.view) })

  test('is posted in the thread once the card stands, soon: whoever pressed watches it', () => {
    expect(briefly(planStory(asked, [card], NOW))).toEqual(['post ask:request-1 1 +0s p1'])
    expect(planStory(asked, [card], NOW)[0]!.step).toMatchObject({ thread: TS })
    expect(briefly(planStory(asked, [], NOW))).toEqual(['post card 1 +0s p0'])
  })

  test('stands as it is while nothing new came of it, and is edited when something did', () => {
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
  const steps = planStory(story, [message({ digest: digestOf(story.card) })], NOW)
  expect(briefly(steps)).toEqual(['post run:512.1 1 +0s p4', 'post run:512.2 1 +0s p0'])
})

test('where somebody asked, the reply about the earlier attempt is as urgent as the line of who asked, and before it', () => {
  const story = tell(['error', { word: 'initiated', after: 11 * MINUTE }], '512.1', [request({ state: 'confirmed' })])
  const steps = planStory(story, [message({ digest: digestOf(story.card) })], NOW)
  expect(briefly(steps)).toEqual(['post run:512.1 1 +0s p1', 'post ask:request-1 1 +0s p1'])
})

test('whom a reply calls and whether it went to the channel is never worth an edit, what it says is', () => {
  const reply = tell(['initiated', 'error']).replies[0]!.view
  expect(digestOf({ ...reply, mention: 'U0ADA00001', broadcast: true, isLate: true })).toBe(digestOf(reply))
  expect(digestOf({ ...reply, shown: 'passed' })).not.toBe(digestOf(reply))
})

test('a queue is due with its first step and as urgent as its most urgent one', () => {
  const story = tell(['initiated', 'error', 'initiated', { word: 'error', after: 5 * MINUTE }])
  const steps = planStory(story, [message()], NOW).map((planned, i) => ({ ...planned, at: NOW - i }))
  expect(queuesOf(steps)).toEqual({ edit: { at: NOW, priority: 0 }, post: { at: NOW - 2, priority: 0 }, look: null })
  expect(queuesOf(steps.toReversed())).toEqual(queuesOf(steps))
  expect(queuesOf([])).toEqual(NO_QUEUES)
})

describe('when the process that was writing is dead', () => {
  const isDead = () => true

  test('its post has an unclear end', () => {
    expect(settleDead([message({ state: 'claimed' })], isDead)[0]).toMatchObject({ state: 'unclear' })
  })

  test('nobody knows what its edit left, and it may still land', () => {
    const sendingAt = NOW - SECOND
    const settled = settleDead([message({ digest: 'x', sending: 'y', sendingAt })], isDead)
    expect(settled[0]).toMatchObject({ digest: null, sending: null, recheckAt: sendingAt + LANDING_MAX_MS })
  })

  test('what it had ended stays as it is, and so does what the living are at', () => {
    const ended = [message({ digest: 'x' }), message({ state: 'unclear' }), message({ state: 'gone' })]
    expect(settleDead(ended, isDead)).toEqual(ended)
    const underWay = [message({ state: 'claimed' }), message({ sending: 'y', sendingAt: NOW })]
    expect(settleDead(underWay, () => false)).toEqual(underWay)
  })
})

describe('the attempt that the card told when it was born', () => {
  test.each<[claim: string, stored: StoredMessage[], said: string | null | undefined]>([
    ['is open before there is a card', [], undefined],
    ['is what the standing card told', [message({ postedAttempt: '512.1' })], '512.1'],
    ['is what the card under way tells', [message({ state: 'claimed', postedAttempt: '512.1' })], '512.1'],
    ['is null where it told none', [message()], null],
    ['is open again while a lost card is posted anew', [message({ state: 'gone', postedAttempt: '512.1' })], undefined],
    ['is open again while an unclear card may be posted again', [message({ state: 'unclear' })], undefined],
    [
      'is what the new card told, not the one it replaces',
      [message({ state: 'gone' }), message({ generation: 2, postedAttempt: '512.2' })],
      '512.2',
    ],
  ])('%s', (_claim, stored, said) => {
    expect(postedAttemptSaid(stored)).toBe(said)
  })

  test('a card names only what has ended', () => {
    expect(postedAttemptOf(attemptsOf('initiated'))).toBe(null)
    expect(postedAttemptOf(attemptsOf('initiated', 'error'))).toBe('512.1')
  })
})

test('a new card knows the one it replaces; a first one replaces none', () => {
  const old: MessageTs = messageTs('1772459000.000100')
  expect(replacedCard([message({ state: 'gone', ts: old }), message({ generation: 2 })])).toBe(old)
  expect(replacedCard([message()])).toBe(null)
})

describe('the notice of a day', () => {
  const view = noticeView('2026-03-02', attemptsOf('ignored'))

  test('is posted at once, and edited when it has gathered for a while', () => {
    expect(briefly(planNotice(view, [], NOW))).toEqual(['post card 1 +0s p2'])
    const stored = message({ digest: 'x', writtenAt: NOW })
    expect(briefly(planNotice(view, [stored], NOW))).toEqual([`edit card +${NOTICE_GAP_MS / SECOND}s p4`])
  })

  test('is left alone when it says it already', () => {
    expect(planNotice(view, [message({ digest: digestOf(view) })], NOW)).toEqual([])
  })
})
