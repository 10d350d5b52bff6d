import { describe, expect, test } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import type { Request } from '../../../src/domain/cards/request.ts'
import { REST_MS } from '../../../src/domain/builds/revision.ts'
import type { RequestView, CardView } from '../../../src/domain/cards/view.ts'
import type { RequestChange } from '../../../src/domain/cards/request.ts'
import { buildId, LIN, MINUTE, request, SECOND, story, T0, type Said } from '../../support/build-events.ts'
import { inBrief } from '../../support/fake-notifier.ts'
import { BUILDS, cardKey, follower, openStage, RELEASES, type Incarnation, type Stage } from '../stage.ts'

const { subject: SUBJECT } = cardKey()
const REVISION = SUBJECT.split('/')[0]!
const BASIC = {
  uuid: toUuid('11111111-aaaa-0000-0000-000000000001'),
  name: 'acme/web',
  legacyId: '41',
  type: 'basic',
  rules: null,
  readAt: T0,
}
const BOTH = { configured: { v2: true, legacy: true } }

type StepResult = Stage & { life: Incarnation }

/** These events were received and sent to each channel. Both interfaces of CI are configured. */
async function openTold(said: readonly (string | Said)[], channels = [BUILDS]): Promise<StepResult> {
  const stage = await openStage({ subscriptions: channels.map((channel) => follower(channel)) })
  await stage.store.write((tx) => tx.saveProject(BASIC))
  const life = await stage.live(BOTH)
  for (const each of said) {
    await stage.hear(each)
    await stage.clock.advance(5 * SECOND)
  }
  return { ...stage, life }
}

/** A day passes. The process is stopped meanwhile: it would only look every second. */
async function rest(stage: StepResult): Promise<void> {
  stage.life.kill()
  await stage.clock.advance(REST_MS + MINUTE)
  await stage.live(BOTH)
}

/** Lin makes a request. It is recorded before CI is called, as in the product. */
async function ask(stage: Stage, change: Partial<Request> = {}): Promise<void> {
  const made = request({ revisionKey: REVISION, subject: SUBJECT, requestedAt: stage.clock.now(), ...change })
  await stage.store.write(async (tx) => {
    await tx.insertRequest(made)
    await tx.wakeRevision(REVISION, stage.clock.now(), 0)
  })
  await stage.clock.advance(5 * SECOND)
}

async function answer(stage: Stage, change: RequestChange, id = 'request-1'): Promise<void> {
  await stage.store.write(async (tx) => {
    await tx.updateRequest(id, change)
    await tx.wakeRevision(REVISION, stage.clock.now(), 0)
  })
  await stage.clock.advance(5 * SECOND)
}

/** CI's answer to a restart: this build runs now. */
async function runs(stage: Stage, build = '512'): Promise<void> {
  const [seen] = story({ word: 'initiated', build })
  const where = { at: stage.clock.now(), origin: 'action', priority: 0, revisionKey: REVISION } as const
  await stage.store.write((tx) => tx.insertBuildEvent(seen!, where))
  await stage.clock.advance(5 * SECOND)
}

async function hear(stage: Stage, said: string | Said): Promise<void> {
  await stage.hear(said)
  await stage.clock.advance(5 * SECOND)
}

const shownIn = ({ slack }: Stage, channel = BUILDS) =>
  slack.messages.filter((message) => message.channel === channel).map(({ view }) => inBrief(view))

const cardIn = ({ slack }: Stage, channel = BUILDS) =>
  slack.messages.findLast((message) => message.channel === channel && message.thread === null)!.view as CardView

const lineOf = ({ slack }: Stage) => slack.messages.find(({ view }) => view.kind === 'request')!.view as RequestView

const stateOf = async ({ store }: Stage, id = 'request-1') => (await store.read.requestOf(`ask of ${id}`))!.state

describe('a request', () => {
  test('is shown at once, as a line in the thread and on the card in place of the button', async () => {
    await using stage = await openTold(['error'])
    expect(cardIn(stage)).toMatchObject({ offers: ['restart'], request: null })
    await ask(stage)
    expect(shownIn(stage)).toEqual(['card 512 failed', 'ask restart 512 asked'])
    expect(cardIn(stage)).toMatchObject({ offers: [], missing: null, request: { by: LIN, stage: 'asked' } })
    const [card, line] = stage.slack.messages
    expect(line!.thread).toBe(card!.ts)
  })

  test('is shown in every channel that has the card, and in no other', async () => {
    await using stage = await openTold(['error'], [BUILDS, RELEASES])
    await hear(stage, { word: 'error', build: '77', commit: 'b'.repeat(40) })
    await ask(stage, { channel: RELEASES })
    expect(shownIn(stage)).toEqual(['card 512 failed', 'card 77 failed', 'ask restart 512 asked'])
    expect(shownIn(stage, RELEASES)).toEqual(shownIn(stage))
  })

  test('about a build without a card posts nothing', async () => {
    await using stage = await openStage({ subscriptions: [] })
    await stage.live(BOTH)
    await stage.hear('error')
    await stage.clock.advance(SECOND)
    await ask(stage)
    expect(stage.slack.messages).toEqual([])
    expect(await stateOf(stage)).toBe('calling')
  })

  test('is shown within a sweep even if its wake-up is lost, and unchanged cards cause no call', async () => {
    await using stage = await openTold(['error'])
    await ask(stage)
    const calls = stage.slack.calls.length
    await stage.clock.advance(2 * MINUTE)
    await stage.store.write((tx) => tx.wakeRevision(REVISION, stage.clock.now(), 0))
    await stage.clock.advance(2 * MINUTE)
    expect(stage.slack.calls).toHaveLength(calls)
  })

  test('changes nothing in Slack when CI accepts it', async () => {
    await using stage = await openTold(['error'])
    await ask(stage)
    const calls = stage.slack.calls.length
    await answer(stage, { state: 'accepted', answeredAt: stage.clock.now() })
    expect(stage.slack.calls).toHaveLength(calls)
  })

  test.each([
    ['refused', 'not-found', ['restart']],
    ['unclear', 'timeout', []],
    ['unconfirmed', 'cannot-look', ['restart']],
  ] as const)('that is %s is shown so on its line and its card, which offers %j', async (state, code, offers) => {
    await using stage = await openTold(['error'])
    await ask(stage)
    await answer(stage, { state, code })
    expect(shownIn(stage)).toEqual(['card 512 failed', `ask restart 512 ${state}`])
    expect(lineOf(stage)).toMatchObject({ stage: state, code })
    expect(cardIn(stage)).toMatchObject({ offers, request: { stage: state, code } })
    expect(stage.slack.calls.filter(({ name }) => name === 'post')).toHaveLength(2)
  })

  test('that was refused can be made again, and gets a line of its own', async () => {
    await using stage = await openTold(['error'])
    await ask(stage)
    await answer(stage, { state: 'refused', code: 'rate-limited' })
    await ask(stage, { id: 'request-2', requestedBy: 'U0ADA00001' })
    expect(shownIn(stage)).toEqual(['card 512 failed', 'ask restart 512 refused', 'ask restart 512 asked'])
    expect(cardIn(stage).request).toMatchObject({ by: 'U0ADA00001' })
  })

  test('that was made before the card was posted is shown after the card', async () => {
    await using stage = await openStage()
    await stage.hear('error')
    await ask(stage)
    await stage.live(BOTH)
    await stage.clock.advance(10 * SECOND)
    expect(shownIn(stage)).toEqual(['card 512 failed', 'ask restart 512 asked'])
  })
})

describe('a stop', () => {
  const stop = { action: 'stop', state: 'accepted' } as const

  test('is confirmed by the end of the attempt, and its line says how the attempt ended', async () => {
    await using stage = await openTold(['initiated'])
    expect(cardIn(stage).offers).toEqual(['stop'])
    await ask(stage, stop)
    await hear(stage, 'stopped')
    expect(shownIn(stage)).toEqual(['card 512 stopped', 'ask stop 512 confirmed', 'reply 512 stopped'])
    expect(lineOf(stage).outcome).toMatchObject({ shown: 'stopped' })
    expect(await stateOf(stage)).toBe('confirmed')
    expect(cardIn(stage)).toMatchObject({ offers: ['restart'], request: { action: 'stop', stage: 'confirmed' } })
  })

  test('that came too late shows how the attempt ended instead', async () => {
    await using stage = await openTold(['initiated'])
    await ask(stage, stop)
    await hear(stage, 'success')
    expect(lineOf(stage)).toMatchObject({ stage: 'confirmed', outcome: { shown: 'passed' } })
  })

  test('is not confirmed before CI has answered the call', async () => {
    await using stage = await openTold(['initiated'])
    await ask(stage, { action: 'stop' })
    await hear(stage, 'stopped')
    expect(await stateOf(stage)).toBe('calling')
    expect(lineOf(stage)).toMatchObject({ stage: 'asked', outcome: { shown: 'stopped' } })
    await answer(stage, { state: 'accepted' })
    expect(await stateOf(stage)).toBe('confirmed')
  })

  test('is not looked up any more once it is confirmed', async () => {
    await using stage = await openTold(['initiated'])
    await ask(stage, { ...stop, lookAt: T0 + 2 * MINUTE })
    await hear(stage, 'stopped')
    expect(await stage.store.read.requestOf('ask of request-1')).toMatchObject({
      lookAt: null,
      endedAt: expect.any(Number),
    })
    expect(await stage.store.read.requestsToCheck(Number.MAX_SAFE_INTEGER, 10)).toEqual([])
  })

  test('with an unknown outcome is confirmed when the attempt stops', async () => {
    await using stage = await openTold(['initiated'])
    await ask(stage, { action: 'stop', state: 'unclear', code: 'timeout' })
    await hear(stage, 'stopped')
    expect(lineOf(stage)).toMatchObject({ stage: 'confirmed', code: null, outcome: { shown: 'stopped' } })
  })
})

describe('a restart', () => {
  test('of the same build becomes attempt 2 on the same card', async () => {
    await using stage = await openTold(['initiated', 'error'])
    await ask(stage, { state: 'accepted' })
    await hear(stage, 'initiated')
    expect(shownIn(stage)).toEqual(['card 512 started', 'reply 512 failed', 'ask restart 512 confirmed'])
    expect(cardIn(stage)).toMatchObject({ attemptNumber: 2, ref: '41/512.2', offers: ['stop'], request: { by: LIN } })
    expect(lineOf(stage).outcome).toEqual({ shown: 'started', buildId: '512', attemptNumber: 2 })
    expect(await stateOf(stage)).toBe('confirmed')
  })

  test('makes a start a new attempt that would otherwise count as late', async () => {
    await using stage = await openTold(['error', 'initiated'])
    await ask(stage, { state: 'accepted' })
    await hear(stage, 'initiated')
    expect(cardIn(stage)).toMatchObject({ shown: 'started', attemptNumber: 2 })
    expect(await stateOf(stage)).toBe('confirmed')
  })

  test('is needed for that: without a request such a start is late', async () => {
    await using stage = await openTold(['error', 'initiated'])
    await hear(stage, 'initiated')
    expect(cardIn(stage)).toMatchObject({ shown: 'failed', attemptNumber: 1 })
  })

  test("as a new build becomes attempt 2 on the same card, and CI's own event confirms it", async () => {
    await using stage = await openTold(['initiated', 'error'])
    await ask(stage)
    await answer(stage, { state: 'accepted', newBuildId: buildId('513') })
    await runs(stage, '513')
    expect(cardIn(stage)).toMatchObject({
      shown: 'requested',
      attemptNumber: 2,
      ref: '41/513.1',
      request: { stage: 'asked' },
    })
    expect(lineOf(stage).outcome).toBeNull()
    expect(await stateOf(stage)).toBe('accepted')
    await hear(stage, { word: 'initiated', build: '513' })
    expect(await stateOf(stage)).toBe('confirmed')
    expect(lineOf(stage)).toMatchObject({ stage: 'confirmed', outcome: { buildId: '513', attemptNumber: 2 } })
    await hear(stage, { word: 'success', build: '513' })
    expect(shownIn(stage)).toEqual([
      'card 513 flaky',
      'reply 512 failed',
      'ask restart 512 confirmed',
      'reply 513 flaky',
    ])
  })

  test('whose start is delivered after its end is still one attempt', async () => {
    await using stage = await openTold(['initiated', 'error'])
    await ask(stage, { state: 'accepted' })
    await runs(stage)
    await hear(stage, 'success')
    await hear(stage, 'initiated')
    expect(cardIn(stage)).toMatchObject({ shown: 'flaky', attemptNumber: 2 })
    expect(await stateOf(stage)).toBe('confirmed')
  })

  test('whose answer was lost is confirmed by the next newer build of the commit', async () => {
    await using stage = await openTold(['initiated', 'error'])
    await ask(stage, { state: 'unclear', code: 'timeout' })
    await hear(stage, { word: 'initiated', build: '513' })
    expect(await stateOf(stage)).toBe('confirmed')
    expect(lineOf(stage)).toMatchObject({ outcome: { buildId: '513', attemptNumber: 2 } })
  })

  test('that CI refused is not confirmed by a later build', async () => {
    await using stage = await openTold(['initiated', 'error'])
    await ask(stage, { state: 'refused', code: 'forbidden' })
    await hear(stage, { word: 'initiated', build: '513' })
    expect(await stateOf(stage)).toBe('refused')
    expect(lineOf(stage)).toMatchObject({ stage: 'refused', outcome: null })
    expect(cardIn(stage)).toMatchObject({ shown: 'started', attemptNumber: 2, request: null })
  })
})

describe('a repeated delivery of a late start', () => {
  const answerTo = async (stage: Stage, said: string) => (await stage.hear(said)).answer

  test('is a duplicate, unless a restart was requested since: then it is the start of that attempt', async () => {
    await using stage = await openTold(['error', 'initiated'])
    expect(await answerTo(stage, 'initiated')).toBe('duplicate')
    await ask(stage, { state: 'accepted' })
    expect(await answerTo(stage, 'initiated')).toBe('recorded')
    expect(await answerTo(stage, 'initiated')).toBe('duplicate')
  })

  test('is a duplicate after a request that CI refused', async () => {
    await using stage = await openTold(['error', 'initiated'])
    await ask(stage, { state: 'refused' })
    expect(await answerTo(stage, 'initiated')).toBe('duplicate')
  })

  test('is recorded once although our restart recorded that start already: CI confirms it', async () => {
    await using stage = await openTold(['error'])
    await ask(stage, { state: 'accepted' })
    await runs(stage)
    expect(await answerTo(stage, 'initiated')).toBe('recorded')
    expect(await answerTo(stage, 'initiated')).toBe('duplicate')
  })
})

describe('a request on a card that has had no event for a day', () => {
  test('is shown on that card, not on the newer card of the same commit', async () => {
    await using stage = await openTold(['error'])
    await rest(stage)
    await hear(stage, { word: 'error', build: '513' })
    expect(shownIn(stage)).toEqual(['card 512 failed', 'card 513 failed'])
    await ask(stage)
    expect(shownIn(stage)).toEqual(['card 512 failed', 'card 513 failed', 'ask restart 512 asked'])
    expect(stage.slack.messages[2]!.thread).toBe(stage.slack.messages[0]!.ts)
    expect(cardIn(stage).request).toBeNull()
  })

  test('leads to a new card, and is confirmed by the attempt on it, even of the same build', async () => {
    await using stage = await openTold(['initiated', 'error'])
    await rest(stage)
    await ask(stage, { state: 'accepted' })
    await hear(stage, 'initiated')
    expect(await stateOf(stage)).toBe('confirmed')
    expect(cardIn(stage)).toMatchObject({
      shown: 'started',
      offers: ['stop'],
      request: { by: LIN, stage: 'confirmed' },
    })
    expect(shownIn(stage)).toEqual([
      'card 512 failed',
      'reply 512 failed',
      'ask restart 512 confirmed',
      'card 512 started',
      'ask restart 512 confirmed',
    ])
  })

  test('that CI refused is not shown on a newer card that was posted meanwhile', async () => {
    for (const again of ['initiated', { word: 'error', build: '513' }]) {
      await using stage = await openTold(['initiated', 'error'])
      await rest(stage)
      await ask(stage)
      await hear(stage, again)
      const newer = inBrief(cardIn(stage))
      await answer(stage, { state: 'refused', code: 'bad-request', endedAt: stage.clock.now() })
      expect(shownIn(stage)).toEqual(['card 512 failed', 'reply 512 failed', 'ask restart 512 refused', newer])
      expect(cardIn(stage).request).toBeNull()
    }
  })

  test('is shown on the newer card that it led to, even if CI ran the build before it answered', async () => {
    await using stage = await openTold(['initiated', 'error'])
    await rest(stage)
    await ask(stage)
    await hear(stage, { word: 'error', build: '513' })
    expect(cardIn(stage)).toMatchObject({ build: { buildId: '513' }, request: null })
    await answer(stage, { state: 'accepted', newBuildId: buildId('513') })
    expect(cardIn(stage).request).toMatchObject({ by: LIN, stage: 'confirmed' })
    expect(shownIn(stage).slice(2)).toEqual([
      'ask restart 512 confirmed',
      'card 513 failed',
      'ask restart 512 confirmed',
    ])
  })

  test('stays confirmed by the build that it led to when that build is restarted too', async () => {
    await using stage = await openTold(['initiated', 'error'])
    await rest(stage)
    await ask(stage)
    await hear(stage, { word: 'error', build: '513' })
    const { subject } = cardKey('', BUILDS, 2)
    const about = { buildId: buildId('513'), subject, requestedBy: 'U0ADA00001' }
    await ask(stage, { id: 'request-2', state: 'accepted', newBuildId: buildId('513'), ...about })
    await runs(stage, '513')
    await answer(stage, { state: 'unclear', code: 'interrupted' })
    expect(await stateOf(stage)).toBe('confirmed')
    const lines = stage.slack.messages.flatMap(({ view }) => (view.kind === 'request' ? [inBrief(view)] : []))
    expect(lines).toEqual(['ask restart 512 confirmed', 'ask restart 513 asked', 'ask restart 512 confirmed'])
  })

  test.each<[what: string, again: string | Said, card: string]>([
    ['the same build', 'initiated', 'card 512 started'],
    ['a further build of the commit', { word: 'error', build: '514' }, 'card 514 failed'],
  ])('is not shown on a new card that %s gets a day after the request was confirmed', async (_, again, card) => {
    await using stage = await openTold(['initiated', 'error'])
    await ask(stage, { state: 'unclear', code: 'timeout' })
    await hear(stage, { word: 'error', build: '513' })
    expect(await stateOf(stage)).toBe('confirmed')
    await rest(stage)
    await hear(stage, again)
    expect(shownIn(stage).slice(-2)).toEqual(['reply 513 failed', card])
    expect(cardIn(stage).request).toBeNull()
  })

  test('leads to a Fixed build when its attempt passes: the failure on the previous card counts', async () => {
    await using stage = await openTold(['initiated', 'error'])
    await rest(stage)
    await ask(stage, { state: 'accepted' })
    await hear(stage, 'initiated')
    await hear(stage, 'success')
    expect(shownIn(stage)).toContain('card 512 fixed')
  })

  test('that leads to a late success does not change which newer build fixed the branch', async () => {
    await using stage = await openTold(['initiated', 'error'])
    await rest(stage)
    await hear(stage, { word: 'success', build: '513' })
    expect(shownIn(stage)).toContain('card 513 fixed')
    await ask(stage, { state: 'accepted' })
    await hear(stage, 'initiated')
    await hear(stage, 'success')
    expect(cardIn(stage)).toMatchObject({ shown: 'fixed', build: { buildId: '513' } })
  })

  test('leads to an attempt that can be stopped by a request of its own', async () => {
    await using stage = await openTold(['initiated', 'error'])
    await rest(stage)
    await ask(stage, { state: 'accepted' })
    await hear(stage, 'initiated')
    const { subject } = cardKey('', BUILDS, 2)
    await ask(stage, { id: 'request-2', action: 'stop', state: 'accepted', subject })
    expect(await stateOf(stage, 'request-2')).toBe('accepted')
    await hear(stage, 'stopped')
    expect(await stateOf(stage, 'request-2')).toBe('confirmed')
  })
})

describe('if CI cannot be called', () => {
  test.each([
    [
      { v2: false, legacy: false },
      { action: 'restart', why: 'no-legacy' },
    ],
    [
      { v2: true, legacy: false },
      { action: 'restart', why: 'no-legacy' },
    ],
  ] as const)('with %j a finished build has no button and the card says why', async (configured, missing) => {
    await using stage = await openStage()
    await stage.store.write((tx) => tx.saveProject(BASIC))
    await stage.live({ configured })
    await stage.hear('error')
    await stage.clock.advance(SECOND)
    expect(cardIn(stage)).toMatchObject({ offers: [], missing })
  })

  test('neither a Pro project nor a project that CI does not list is offered a restart', async () => {
    await using stage = await openStage()
    await stage.store.write((tx) => tx.saveProject({ ...BASIC, legacyId: null, type: 'pro' }))
    await stage.live(BOTH)
    await stage.hear({ word: 'error', details: { projectName: 'acme/web' } })
    await stage.hear({ word: 'error', project: '42', build: '77', details: { projectName: 'acme/api' } })
    await stage.clock.advance(5 * SECOND)
    const missing = stage.slack.messages.map(({ view }) => (view as CardView).missing?.why)
    expect(missing).toEqual(['pro-project', 'project-unknown'])
  })
})
