import { describe, expect, it } from 'vitest'
import type { StoredInteraction } from '../../../src/store/records.ts'
import { answerInterrupted } from '../../../src/features/kit/interrupted.ts'
import { choiceValue } from '../../../src/features/kit/values.ts'
import { describedFeatures } from '../../../src/features/features.ts'
import { interactionIn } from '../../../src/features/kit/receiving-app.ts'
import {
  ACTION_IDS,
  CHOICE_ACTION_IDS,
  HOME_ACTION_IDS,
  SUBSCRIPTION_ACTION_IDS,
} from '../../../src/slack/messages/ids.ts'
import { T0 } from '../../support/build-events.ts'

const interaction = (what: string): StoredInteraction => ({
  id: 'i1',
  interactionKey: 'k1',
  user: 'U0ADA00001',
  what,
  channel: null,
  threadTs: null,
  responseUrl: null,
  receivedAt: T0,
  state: 'owed',
  claimedBy: 'p1',
  claimedAt: T0,
})

const told = (what: string): string =>
  answerInterrupted({ interaction: interaction(what), request: null, isUnshown: false }, 'ref').text

describe('the person whose request was interrupted', () => {
  it.each([
    ['/ci subscribe acme/web', '/ci rules'],
    ['/ci unsubscribe acme/web', '/ci rules'],
    ['@buildline subscribe acme/web', '/ci rules'],
    ['subscribe', '/ci rules'],
    ['unsubscribe', '/ci rules'],
    ['/ci me ada', '/ci me'],
    ['/ci me forget ada', '/ci me'],
    ['me mentions', '/ci me'],
    ['subscribe to these', '/ci rules'],
    ['/ci digest weekly mon 9:00', '/ci rules'],
    ['@buildline digest off', '/ci rules'],
  ])('by “%s” is told that it may be done, and to check with %s', (what, look) => {
    expect(told(what)).toContain(`Type \`${look}\``)
    expect(told(what)).not.toContain('Nothing was done')
  })

  it('by an import is told that some subscriptions may be there', () => {
    expect(told('subscribe to these')).toContain('Each subscription was either saved completely or not at all')
    expect(told('subscribe')).toContain('It was either saved')
  })

  it.each([
    '/ci import acme/web',
    '/ci digest now',
    'import',
    '/ci status acme/web',
    '/ci-list me',
    '/ci-list subscribe',
    '/ci merge',
    'stop',
    'a click',
  ])('by “%s” is told that nothing was done', (what) => {
    expect(told(what)).toContain('Nothing was done')
  })
})

const clicked = (id: string, value: string): string | undefined =>
  interactionIn(
    describedFeatures(),
    { type: 'block_actions', user: { id: 'U0ADA00001' }, actions: [{ action_id: id, value }] },
    T0,
  )?.what

describe('a click is stored under the name of its command', () => {
  it.each([
    [
      'subscribe',
      choiceValue({ kind: 'project', command: 'subscribe', project: '11', branch: null, rest: ['failed'] }),
    ],
    ['status', choiceValue({ kind: 'project', command: 'status', project: '11', branch: null })],
    ['a click', 'no choice of ours'],
  ])('%s, by a choice', (what, value) => {
    expect(clicked(CHOICE_ACTION_IDS[0], value!)).toBe(what)
  })

  it("me, by That's me; me mentions, by the button of Home; unsubscribe, by Remove", () => {
    expect(clicked(ACTION_IDS.claim, '41/512.1')).toBe('me, as the committer of #512')
    expect(clicked(HOME_ACTION_IDS.mentions, 'off')).toBe('me mentions')
    expect(clicked(SUBSCRIPTION_ACTION_IDS.remove, '7')).toBe('unsubscribe')
    expect(clicked(SUBSCRIPTION_ACTION_IDS.import, '{}')).toBe('subscribe to these')
  })
})
