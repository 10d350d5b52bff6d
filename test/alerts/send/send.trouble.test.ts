import { describe, expect, test } from 'vitest'
import { CHANNEL_AGAIN_MS } from '../../../src/alerts/send/outcome.ts'
import { HOUR, MINUTE, SECOND, T0, type Said } from '../../support/build-events.ts'
import {
  CLOSED_WORKSPACE,
  inBrief,
  limited,
  REFUSED,
  SMOOTH,
  unclearButLands,
  UNCLEAR_LOST,
  type Fate,
} from '../../support/fake-notifier.ts'
import { BUILDS, cardKey, follower, openStage, RELEASES, ingestDue, type Stage } from '../stage.ts'

const TWO_CHANNELS = { subscriptions: [follower(BUILDS), follower(RELEASES)] }

// Each on its own branch, so that none fixes another.
const build = (id: number, word: string): Said => ({
  word,
  build: String(id),
  commit: String(id).repeat(10),
  branch: `fix/${id}`,
})

const shownIn = ({ slack }: Stage, channel = BUILDS) =>
  slack.messages.filter((message) => message.channel === channel).map(({ view }) => inBrief(view))

const secondsOf = ({ slack }: Stage, name: string, channel = BUILDS) =>
  slack.calls.filter((call) => call.name === name && call.channel === channel).map(({ at }) => (at - T0) / SECOND)

describe('a rate limit of Slack', () => {
  test('holds up the limited channel, and no other', async () => {
    await using stage = await openStage(TWO_CHANNELS)
    stage.slack.fate(({ name, channel, at }) =>
      name === 'post' && channel === BUILDS && at < T0 + 2 * SECOND ? limited(30 * SECOND) : {},
    )
    await stage.live()
    await stage.hear('error')
    await stage.clock.advance(5 * SECOND)
    expect(shownIn(stage, RELEASES)).toEqual(['card 512 failed'])
    await stage.hear(build(513, 'error'))
    await stage.clock.advance(5 * SECOND)
    expect(shownIn(stage, RELEASES)).toHaveLength(2)
    expect(shownIn(stage)).toEqual([])
    expect(secondsOf(stage, 'post')).toHaveLength(1)
    await stage.clock.advance(MINUTE)
    expect(shownIn(stage)).toHaveLength(2)
    expect(secondsOf(stage, 'post')[1]! - secondsOf(stage, 'post')[0]!).toBeGreaterThanOrEqual(30)
  })

  test('for edits does not hold up replies', async () => {
    await using stage = await openStage()
    await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(5 * SECOND)
    stage.slack.fate(({ name }) => (name === 'edit' ? limited(40 * SECOND) : SMOOTH))
    await stage.hear('error')
    await stage.clock.advance(5 * SECOND)
    expect(shownIn(stage)).toEqual(['card 512 started', 'reply 512 failed'])
    stage.slack.fate(() => SMOOTH)
    await stage.clock.advance(MINUTE)
    expect(shownIn(stage)).toEqual(['card 512 failed', 'reply 512 failed'])
  })
})

test("a reply and the card's edit follow each other without waiting for the next sweep", async () => {
  await using stage = await openStage()
  await stage.live()
  await stage.hear('initiated')
  await stage.clock.advance(5 * SECOND)
  stage.slack.fate(() => ({ landsAfterMs: 100 }))
  await stage.hear('error')
  await stage.clock.advance(5 * SECOND)
  const edited = stage.slack.calls.findLast(({ name }) => name === 'edit')!.at
  const posted = stage.slack.calls.findLast(({ name }) => name === 'post')!.at
  expect(Math.abs(posted - edited)).toBeLessThanOrEqual(200)
})

test('failures are posted first, then builds that have ended, then running ones', async () => {
  await using stage = await openStage()
  await stage.hear(build(601, 'initiated'))
  await stage.hear(build(602, 'success'))
  await stage.hear(build(603, 'initiated'))
  await stage.hear(build(604, 'error'))
  await stage.live()
  await stage.clock.advance(MINUTE)
  const shown = shownIn(stage)
  expect(shown.slice(0, 2)).toEqual(['card 604 failed', 'card 602 passed'])
  // Their order is undefined: both were received in the same moment.
  expect(shown.slice(2).toSorted()).toEqual(['card 601 started', 'card 603 started'])
  expect(secondsOf(stage, 'post')).toEqual([0, 0, 0, 1])
})

test('a stop waits for the calls in flight, even if the database goes away meanwhile', async () => {
  await using stage = await openStage()
  stage.slack.fate(() => ({ landsAfterMs: 10 * SECOND }))
  let isAway = false
  const closedChannels = async () => {
    if (isAway) throw new Error('the database is away')
    return stage.store.read.closedChannels()
  }
  const { reconciler } = await stage.live({ store: { ...stage.store, read: { ...stage.store.read, closedChannels } } })
  await stage.hear('error')
  await stage.clock.advance(2 * SECOND)
  expect(stage.slack.calls).toHaveLength(1)
  isAway = true
  await stage.clock.advance(2 * SECOND)
  const end = { isOver: false }
  void reconciler.stop().then(() => (end.isOver = true))
  await stage.clock.advance(2 * SECOND)
  expect(end.isOver).toBe(false)
  await stage.clock.advance(10 * SECOND)
  expect(end.isOver).toBe(true)
})

test('a stop during a sweep does not wait for the next ping of a Slack that is down', async () => {
  await using stage = await openStage()
  stage.slack.fate(() => CLOSED_WORKSPACE)
  const sweep = { read: stage.store.read.closedChannels }
  const read = { ...stage.store.read, closedChannels: () => sweep.read() }
  const { reconciler } = await stage.live({ store: { ...stage.store, read } })
  await stage.hear('error')
  await stage.clock.advance(5 * SECOND)
  expect(reconciler.outage()).toBe('token_revoked')
  const stop = { beganAt: 0, endedAt: Number.POSITIVE_INFINITY }
  sweep.read = () => {
    stop.beganAt = stage.clock.now()
    void reconciler.stop().then(() => (stop.endedAt = stage.clock.now()))
    return stage.store.read.closedChannels()
  }
  await stage.clock.advance(2 * MINUTE)
  expect(stop.endedAt - stop.beganAt).toBe(0)
})

test('a card whose blocks are refused once is posted with blocks', async () => {
  await using stage = await openStage()
  stage.slack.meet(REFUSED)
  await stage.live()
  await stage.hear('error')
  await stage.clock.advance(10 * SECOND)
  expect(stage.slack.messages.map(({ plain }) => plain)).toEqual([false])
})

test('a channel that accepts no replies gets cards only, and the replies once it accepts them', async () => {
  await using stage = await openStage()
  const failure = { kind: 'thread-closed', code: 'restricted_action_non_threadable_channel' } as const
  const closed = { landsAfterMs: null, failure }
  stage.slack.fate(({ thread }) => (thread ? closed : {}))
  await stage.live()
  await stage.hear('initiated')
  await stage.clock.advance(10 * SECOND)
  await stage.hear('error')
  await stage.hear(build(513, 'success'))
  await stage.clock.advance(MINUTE)
  expect(shownIn(stage)).toEqual(['card 512 failed', 'card 513 passed'])
  expect(stage.slack.messages.map(({ plain }) => plain)).toEqual([false, false])
  expect(await stage.store.read.closedChannels()).toEqual([])
  stage.slack.fate(() => ({}))
  await stage.clock.advance(HOUR)
  expect(shownIn(stage)).toEqual(['card 512 failed', 'card 513 passed', 'reply 512 failed'])
})

test('a card whose blocks are refused twice is posted as plain text, while other cards keep their blocks', async () => {
  await using stage = await openStage()
  stage.slack.meet(REFUSED, REFUSED)
  await stage.live()
  await stage.hear('error')
  await stage.clock.advance(5 * SECOND)
  await stage.hear(build(513, 'error'))
  await stage.clock.advance(5 * SECOND)
  expect(stage.slack.messages.map(({ plain }) => plain)).toEqual([true, false])
})

test('a card that is refused even as plain text comes whole within a minute of the end of that, and holds up no other', async () => {
  await using stage = await openStage()
  stage.slack.fate(({ view }) => (view?.kind === 'card' && view.build.buildId === '512' ? REFUSED : {}))
  await stage.live()
  await stage.hear('error')
  await stage.hear(build(513, 'success'))
  await stage.clock.advance(HOUR / 2)
  expect(shownIn(stage)).toEqual(['card 513 passed'])
  const tries = stage.slack.calls.filter(({ view }) => view?.kind === 'card' && view.build.buildId === '512')
  // As blocks and as text, once in half a minute at most.
  expect(tries.length).toBeLessThan(2 * 60 + 10)
  stage.slack.fate(() => ({}))
  await stage.clock.advance(MINUTE)
  expect(shownIn(stage)).toEqual(['card 513 passed', 'card 512 failed'])
  expect(stage.slack.messages.map(({ plain }) => plain)).toEqual([false, false])
})

test('a closed channel is retried after a while, and then gets the newest state', async () => {
  await using stage = await openStage(TWO_CHANNELS)
  stage.slack.close(BUILDS)
  await stage.live()
  await stage.hear('initiated')
  await stage.clock.advance(MINUTE)
  await stage.hear('error')
  await stage.hear(build(513, 'success'))
  await stage.clock.advance(MINUTE)
  expect(secondsOf(stage, 'post')).toHaveLength(1)
  expect(shownIn(stage, RELEASES).sort()).toEqual(['card 512 failed', 'card 513 passed', 'reply 512 failed'])
  stage.slack.open(BUILDS)
  await stage.clock.advance(CHANNEL_AGAIN_MS)
  expect(shownIn(stage)).toEqual(['card 512 failed', 'card 513 passed'])
  expect(await stage.store.read.closedChannels()).toEqual([])
})

test('a closed workspace is tested by a cheap question now and then, not by messages', async () => {
  await using stage = await openStage()
  stage.slack.fate(() => CLOSED_WORKSPACE)
  const { reconciler } = await stage.live()
  await stage.hear('error')
  await stage.hear(build(513, 'error'))
  await stage.clock.advance(5 * MINUTE)
  expect(secondsOf(stage, 'post')).toHaveLength(1)
  expect(reconciler.outage()).toBe('token_revoked')
  stage.slack.fate(() => ({}))
  await stage.clock.advance(MINUTE)
  expect(reconciler.outage()).toBe(null)
  expect(shownIn(stage)).toHaveLength(2)
})

describe('a card that people delete', () => {
  test('is posted anew once, with the newest state, and not a second time', async () => {
    await using stage = await openStage()
    await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(5 * SECOND)
    const first = stage.slack.messages[0]!.ts
    stage.slack.lose(first)
    await stage.hear('error')
    await stage.clock.advance(MINUTE)
    expect(shownIn(stage)).toEqual(['card 512 failed'])
    expect(stage.slack.messages[0]!.view).toMatchObject({ replaces: first })
    stage.slack.lose(stage.slack.messages[0]!.ts)
    await stage.hear({ word: 'success' })
    await stage.clock.advance(HOUR)
    expect(shownIn(stage)).toEqual([])
  })

  test('mentions the committer again if it is posted anew as failed, since an edit notifies nobody', async () => {
    await using stage = await openStage({ subscriptions: [follower(BUILDS, { mention: 'committer' })] })
    await stage.store.write((tx) => tx.claimHandle('Ada', 'U0ADA00001', T0))
    await stage.live()
    await stage.hear({ word: 'initiated', details: { committer: 'Ada' } })
    await stage.clock.advance(5 * SECOND)
    stage.slack.lose(stage.slack.messages[0]!.ts)
    await stage.hear({ word: 'error', details: { committer: 'Ada' } })
    await stage.clock.advance(MINUTE)
    expect(stage.slack.messages.map(({ first }) => first)).toMatchObject([{ kind: 'card', mention: 'U0ADA00001' }])
  })

  test('does not mention the committer again for the failure that it announced first', async () => {
    await using stage = await openStage({ subscriptions: [follower(BUILDS, { mention: 'committer' })] })
    await stage.store.write((tx) => tx.claimHandle('Ada', 'U0ADA00001', T0))
    await stage.live()
    await stage.hear({ word: 'error', details: { committer: 'Ada' } })
    await stage.clock.advance(5 * SECOND)
    const [before] = stage.slack.messages
    stage.slack.lose(before!.ts)
    await stage.hear({ word: 'error', details: { committer: 'Ada', message: 'fix login' } })
    await stage.clock.advance(MINUTE)
    const calls = [before!, ...stage.slack.messages].map(({ first }) => first)
    expect(calls).toMatchObject([
      { shown: 'failed', mention: 'U0ADA00001' },
      { shown: 'failed', mention: null },
    ])
  })

  test('ends the search for a reply in its thread', async () => {
    await using stage = await openStage()
    await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(5 * SECOND)
    stage.slack.fate(({ name, view }) => (name === 'post' && view?.kind === 'reply' ? UNCLEAR_LOST : {}))
    await stage.hear('error')
    await stage.clock.advance(2 * SECOND)
    stage.slack.lose(stage.slack.messages[0]!.ts)
    stage.slack.fate(() => ({}))
    await stage.clock.advance(2 * MINUTE)
    expect(secondsOf(stage, 'find').length).toBeLessThanOrEqual(3)
    expect(shownIn(stage)).toEqual(['card 512 failed'])
  })
})

test('a lost card that is posted again as failed mentions its committer', async () => {
  await using stage = await openStage({ subscriptions: [follower(BUILDS, { mention: 'committer' })] })
  await stage.store.write((tx) => tx.claimHandle('Ada', 'U0ADA00001', T0))
  stage.slack.meet(UNCLEAR_LOST)
  await stage.live()
  await stage.hear({ word: 'initiated', details: { committer: 'Ada' } })
  await stage.clock.advance(5 * SECOND)
  await stage.hear({ word: 'error', details: { committer: 'Ada' } })
  await stage.clock.advance(MINUTE)
  expect(stage.slack.messages.map(({ first }) => first)).toMatchObject([{ kind: 'card', mention: 'U0ADA00001' }])
})

describe('if the history of a channel cannot be read', () => {
  const UNREADABLE = { landsAfterMs: null, failure: { kind: 'refused', code: 'missing_scope' } } as const
  const FAILING = { landsAfterMs: null, failure: { kind: 'unclear', code: 'http_503' } } as const
  const HANGING = {
    landsAfterMs: null,
    answersAfterMs: 10 * SECOND,
    failure: { kind: 'unclear', code: 'timeout' },
  } as const

  /** A card whose post has an unknown outcome shows Running. Its build fails while history cannot be read. */
  async function failedUnseen(history: Partial<Fate>) {
    const stage = await openStage()
    stage.slack.fate(({ name }) => (name === 'post' ? unclearButLands() : name === 'find' ? history : SMOOTH))
    await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(10 * SECOND)
    await stage.hear('error')
    await stage.clock.advance(20 * MINUTE)
    expect(shownIn(stage)).toEqual(['card 512 started'])
    return stage
  }

  test.each([
    ['because a scope is missing', UNREADABLE],
    ['because Slack fails', FAILING],
    ['because Slack hangs', HANGING],
  ])(
    '%s, a card with an unknown outcome is searched rarely, and edited minutes after history can be read again',
    async (_, history) => {
      await using stage = await failedUnseen(history)
      expect(secondsOf(stage, 'find').length).toBeLessThan(40)
      stage.slack.fate(() => SMOOTH)
      await stage.clock.advance(5 * MINUTE)
      expect(shownIn(stage)).toEqual(['card 512 failed', 'reply 512 failed'])
    },
  )

  test('a new event makes the bot look for a card with an unknown outcome at once', async () => {
    await using stage = await failedUnseen(UNREADABLE)
    stage.slack.fate(() => SMOOTH)
    await stage.hear('initiated')
    await stage.clock.advance(5 * SECOND)
    expect(shownIn(stage)).toContain('card 512 started')
    expect(shownIn(stage)).toContain('reply 512 failed')
  })

  test.each([
    ['because a scope is missing', UNREADABLE],
    ['because Slack fails', FAILING],
    ['because Slack hangs', HANGING],
  ])('%s, a reply with an unknown outcome holds up neither its card nor the next reply', async (_, history) => {
    await using stage = await openStage()
    await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(5 * SECOND)
    stage.slack.fate(({ name, view }) => {
      const isFirst = view?.kind === 'reply' && view.build.buildId === '512'
      return name === 'find' ? history : name === 'post' && isFirst ? unclearButLands() : SMOOTH
    })
    await stage.hear('error')
    await stage.clock.advance(5 * MINUTE)
    expect(shownIn(stage)).toEqual(['card 512 failed', 'reply 512 failed'])
    await stage.hear({ word: 'initiated', build: '513' })
    await stage.clock.advance(15 * SECOND)
    expect(shownIn(stage)[0]).toBe('card 513 started')
    await stage.hear({ word: 'error', build: '513' })
    await stage.clock.advance(15 * SECOND)
    expect(shownIn(stage)).toEqual(['card 513 failed', 'reply 512 failed', 'reply 513 failed'])
  })

  test('the log names the missing scope once for each card', async () => {
    await using stage = await failedUnseen(UNREADABLE)
    const errors = stage.log.filter(({ level }) => level === 'error')
    expect(errors.map(({ text }) => text)).toEqual([expect.stringContaining('channels:history')])
  })
})

test('a second copy that cannot be deleted stays, and the bot does not try again', async () => {
  await using stage = await openStage()
  stage.slack.meet({ ...unclearButLands(), listedAfterMs: 30 * SECOND })
  stage.slack.fate(({ name }) =>
    name === 'remove' ? { landsAfterMs: null, failure: { kind: 'message-gone', code: 'cant_delete_message' } } : {},
  )
  await stage.live()
  await stage.hear('initiated')
  await stage.clock.advance(5 * MINUTE)
  expect(stage.slack.calls.filter(({ name }) => name === 'remove')).toHaveLength(1)
})

describe('a card that hits a bug in Buildline', () => {
  test('holds up no other card of its channel', async () => {
    await using stage = await openStage()
    await stage.live({ notifier: brokenFor(stage, '512') })
    await stage.hear('error')
    await stage.hear(build(513, 'success'))
    await stage.clock.advance(MINUTE)
    expect(shownIn(stage)).toEqual(['card 513 passed'])
  })

  test('is retried with growing delays of at most ten minutes', async () => {
    await using stage = await openStage()
    const { deps } = stage.embody()
    await stage.hear('error')
    await ingestDue(deps)
    stage.sql("update fact set details = 'broken' || details")
    await stage.live()
    await stage.clock.advance(HOUR)
    const { tries, queues } = (await stage.store.read.card(cardKey()))!
    expect(tries).toBeGreaterThan(5)
    expect(tries).toBeLessThan(60)
    expect(queues.post!.at).toBeLessThanOrEqual(stage.clock.now() + 10 * MINUTE)
  })

  test('is posted with growing delays even if every look for it succeeds', async () => {
    await using stage = await openStage()
    stage.slack.fate(({ name }) => {
      if (name === 'post') throw new Error('a fault of our own')
      return SMOOTH
    })
    await stage.live()
    await stage.hear('error')
    await stage.clock.advance(HOUR)
    expect(secondsOf(stage, 'post').length).toBeLessThan(30)
    stage.slack.fate(() => SMOOTH)
    await stage.clock.advance(HOUR)
    expect(shownIn(stage)).toEqual(['card 512 failed'])
  })

  test('does not use up the edit calls of the other cards', async () => {
    await using stage = await openStage()
    const life = await stage.live()
    await stage.hear('initiated')
    await stage.hear(build(513, 'initiated'))
    await stage.clock.advance(5 * SECOND)
    life.kill()
    const process = await stage.live({ notifier: brokenFor(stage, '512') })
    await stage.hear('error')
    await stage.clock.advance(2 * MINUTE)
    await stage.hear(build(513, 'success'))
    await stage.clock.advance(2 * SECOND)
    expect(shownIn(stage)).toContain('card 513 passed')
    process.kill()
    await stage.live()
    await stage.clock.advance(20 * MINUTE)
    expect(shownIn(stage)).toContain('card 512 failed')
  })

  test('is read again later if its rows are broken, and other cards are sent meanwhile', async () => {
    await using stage = await openStage()
    const { deps } = stage.embody()
    await stage.hear('error')
    await ingestDue(deps)
    stage.sql("update fact set details = 'broken' || details")
    await stage.live()
    await stage.hear(build(513, 'success'))
    await stage.clock.advance(MINUTE)
    expect(shownIn(stage)).toEqual(['card 513 passed'])
    stage.sql("update fact set details = replace(details, 'broken', '')")
    await stage.clock.advance(20 * MINUTE)
    expect(shownIn(stage)).toEqual(['card 513 passed', 'card 512 failed'])
  })
})

/** A Slack client that fails for one build. */
function brokenFor({ slack }: Stage, buildId: string): Stage['slack'] {
  const breaks = (view: Parameters<typeof slack.post>[0]['view']) => inBrief(view).split(' ').includes(buildId)
  const dropped = () => Promise.reject(new Error('dropped'))
  return {
    ...slack,
    post: (message) => (breaks(message.view) ? dropped() : slack.post(message)),
    edit: (message) => (breaks(message.view) ? dropped() : slack.edit(message)),
  }
}

test('a claim that may be given up right now is given up, without a loop of further checks', async () => {
  await using stage = await openStage({ shared: true })
  stage.slack.fate(() => ({ landsAfterMs: 20 * SECOND }))
  const first = await stage.live()
  await stage.hear('initiated')
  await stage.clock.advance(2 * SECOND)
  first.kill()
  stage.slack.fate(() => ({}))
  await stage.live()
  await stage.clock.advance(2 * MINUTE)
  expect(await stage.messagesOf(cardKey())).toMatchObject([{ state: 'posted' }])
})

test.each([1, 2, 3])('a step that becomes due while the queue is read is not late: a timer %i ms early', async (by) => {
  const calledAt = async (early: number) => {
    await using stage = await openStage()
    const { store, clock } = stage
    stage.slack.fate(({ name, at }) => (name === 'post' && at < T0 + SECOND ? UNCLEAR_LOST : SMOOTH))
    async function dueCards(...asked: Parameters<typeof store.read.dueCards>) {
      const due = await store.read.dueCards(...asked)
      await clock.sleep(early === 0 ? 0 : 1)
      return due
    }
    await stage.live({
      clock: { ...clock, sleep: (ms, signal) => clock.sleep(ms - early, signal) },
      store: { ...store, read: { ...store.read, dueCards } },
    })
    await stage.hear('error')
    await clock.advance(HOUR)
    return stage.slack.calls.map(({ at }) => at)
  }
  const [onTime, late] = [await calledAt(0), await calledAt(by)]
  expect(late).toHaveLength(onTime.length)
  for (const [n, at] of late.entries()) expect(at - onTime[n]!).toBeLessThan(SECOND)
})
