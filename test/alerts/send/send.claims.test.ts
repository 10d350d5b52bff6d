import { describe, expect, test } from 'vitest'
import { LANDING_MAX_MS } from '../../../src/domain/cards/plan.ts'
import { CHANNEL_AGAIN_MS } from '../../../src/alerts/send/outcome.ts'
import { sendNext } from '../../../src/alerts/send/send.ts'
import { MINUTE, SECOND, T0, type Said } from '../../support/build-events.ts'
import { inBrief, limited, unclearButLands, UNCLEAR_LOST, type Fate } from '../../support/fake-notifier.ts'
import { cardKey, openStage, ingestDue, type Stage } from '../stage.ts'

const CARD = cardKey()

const callsOf = ({ slack }: Stage) => slack.calls.map(({ name }) => name)
const says = ({ slack }: Stage) => slack.messages.map(({ view }) => inBrief(view).replace(' 512', ''))

async function receivedAndIngested(stage: Stage, ...said: readonly (string | Said)[]) {
  const deps = { ...stage.embody().deps, isUnderWay: () => false }
  await stage.hear(...said)
  await ingestDue(deps)
  return deps
}

describe('a message', () => {
  test('is claimed before it is posted, and recorded after', async () => {
    await using stage = await openStage()
    const deps = await receivedAndIngested(stage, 'initiated')
    const seen: unknown[] = []
    const post: typeof deps.notifier.post = async (message) => {
      seen.push(...(await stage.messagesOf(CARD)))
      return deps.notifier.post(message)
    }
    await sendNext({ ...deps, notifier: { ...deps.notifier, post } }, CARD, 'post')
    expect(seen).toMatchObject([{ slot: 'card', state: 'claimed', ts: null, claimedBy: deps.term.id }])
    const [shown] = stage.slack.messages
    expect(await stage.messagesOf(CARD)).toMatchObject([{ state: 'posted', ts: shown!.ts, key: shown!.key }])
  })

  test('that is up to date takes no step in any queue', async () => {
    await using stage = await openStage()
    const deps = await receivedAndIngested(stage, 'initiated')
    await sendNext(deps, CARD, 'post')
    for (const queue of ['post', 'edit', 'look'] as const)
      expect(await sendNext(deps, CARD, queue)).toEqual({ kind: 'nothing' })
    expect(callsOf(stage)).toEqual(['post'])
  })

  test('that was certainly not sent leaves no claim behind, and nobody looks for it', async () => {
    await using stage = await openStage()
    stage.slack.meet({ landsAfterMs: null, failure: { kind: 'unsent', code: 'ECONNREFUSED' } })
    await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(MINUTE)
    expect(callsOf(stage)).toEqual(['post', 'post'])
    expect(says(stage)).toEqual(['card started'])
  })
})

describe('a post with an unknown outcome', () => {
  test('that arrived is found at once and not posted again', async () => {
    await using stage = await openStage()
    stage.slack.meet(unclearButLands())
    await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(5 * MINUTE)
    expect(callsOf(stage)).toEqual(['post', 'find'])
    expect(says(stage)).toEqual(['card started'])
  })

  test('that arrives late is found late and not posted again', async () => {
    await using stage = await openStage()
    stage.slack.meet(unclearButLands(12 * SECOND))
    await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(5 * MINUTE)
    expect(callsOf(stage)).toEqual(['post', 'find', 'find'])
    expect(says(stage)).toEqual(['card started'])
  })

  test('that was lost is posted again, but only once it can no longer arrive', async () => {
    await using stage = await openStage()
    stage.slack.meet(UNCLEAR_LOST)
    await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(5 * MINUTE)
    const [first, , , second] = stage.slack.calls
    expect(callsOf(stage)).toEqual(['post', 'find', 'find', 'post', 'find'])
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(LANDING_MAX_MS)
    expect(second!.key).toBe(first!.key)
    // The log does not call a look "sent".
    const ended = stage.log.filter(({ text }) => text === 'sent' || text === 'looked up').map(({ text }) => text)
    expect(ended).toEqual(['looked up', 'looked up', 'sent', 'looked up'])
  })

  test('that was lost while posting is rate-limited is posted when the limit ends, without another look', async () => {
    await using stage = await openStage()
    let posts = 0
    const fates = [UNCLEAR_LOST, limited(3 * SECOND)]
    stage.slack.fate(({ name }) => (name === 'post' ? (fates[posts++] ?? {}) : {}))
    await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(5 * MINUTE)
    expect(callsOf(stage)).toEqual(['post', 'find', 'find', 'post', 'post', 'find'])
    const [, limitedAt, saidAt] = stage.slack.calls.filter(({ name }) => name === 'post').map(({ at }) => at)
    expect(saidAt! - limitedAt!).toBeLessThan(5 * SECOND)
    expect(says(stage)).toEqual(['card started'])
  })

  test('that history hides is looked for again after hours of downtime before it is posted again', async () => {
    await using stage = await openStage()
    let posts = 0
    const hidden = { ...unclearButLands(), listedAfterMs: 25 * SECOND }
    const fates = [hidden, limited(MINUTE)]
    stage.slack.fate(({ name }) => (name === 'post' ? (fates[posts++] ?? {}) : {}))
    const first = await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(30 * SECOND)
    first.kill()
    await stage.clock.advance(4 * 60 * MINUTE)
    await stage.live()
    await stage.clock.advance(5 * MINUTE)
    expect(callsOf(stage)).toEqual(['post', 'find', 'find', 'post', 'find'])
    expect(says(stage)).toEqual(['card started'])
  })

  test('is not treated as lost by a look that began too early, however long that look took', async () => {
    await using stage = await openStage()
    const deps = await receivedAndIngested(stage, 'initiated')
    stage.slack.meet(unclearButLands(15 * SECOND))
    await sendNext(deps, CARD, 'post')
    await stage.clock.advance(10 * SECOND)
    const find: typeof deps.notifier.find = async (search) => {
      const found = await deps.notifier.find(search)
      await deps.clock.sleep(LANDING_MAX_MS)
      return found
    }
    const looking = sendNext({ ...deps, notifier: { ...deps.notifier, find } }, CARD, 'look')
    await stage.clock.advance(LANDING_MAX_MS)
    expect(await looking).toMatchObject({ outcome: { kind: 'found', copies: [] } })
    await stage.live()
    await stage.clock.advance(5 * MINUTE)
    expect(callsOf(stage)).toEqual(['post', 'find', 'find'])
    expect(says(stage)).toEqual(['card started'])
  })

  test('that a crash interrupted is looked for by the next process before it posts', async () => {
    await using stage = await openStage()
    const first = await stage.live()
    stage.slack.fate(() => ({ landsAfterMs: 3 * SECOND }))
    await stage.hear('initiated')
    await stage.clock.advance(2 * SECOND)
    first.kill()
    stage.slack.fate(() => ({}))
    await stage.live()
    await stage.clock.advance(5 * MINUTE)
    expect(callsOf(stage)).toEqual(['post', 'find', 'find'])
    expect(says(stage)).toEqual(['card started'])
  })

  test('that is found twice is deleted once, and the remaining message shows the newest state', async () => {
    await using stage = await openStage()
    const deps = await receivedAndIngested(stage, 'initiated')
    // Both looks miss it, so it is posted again, and the outcome of that post is unknown too.
    stage.slack.meet({ ...unclearButLands(), listedAfterMs: 40 * SECOND }, {}, {}, unclearButLands())
    await sendNext(deps, CARD, 'post')
    await stage.clock.advance(SECOND)
    await sendNext(deps, CARD, 'look')
    await stage.clock.advance(LANDING_MAX_MS)
    await sendNext(deps, CARD, 'look')
    await stage.hear('error')
    await ingestDue(deps)
    await sendNext(deps, CARD, 'post')
    expect(says(stage)).toEqual(['card started', 'card failed'])
    await stage.clock.advance(30 * SECOND)
    await sendNext(deps, CARD, 'look')
    expect(says(stage)).toHaveLength(1)
    await stage.live()
    await stage.clock.advance(5 * MINUTE)
    expect(says(stage)).toEqual(['card failed'])
  })

  test('whose second copy shows up after it was posted again is deleted', async () => {
    await using stage = await openStage()
    stage.slack.meet({ ...unclearButLands(), listedAfterMs: 30 * SECOND })
    await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(25 * SECOND)
    expect(says(stage)).toEqual(['card started', 'card started'])
    await stage.clock.advance(5 * MINUTE)
    expect(says(stage)).toEqual(['card started'])
    expect(stage.slack.messages[0]!.ts).toBe((await stage.messagesOf(CARD))[0]!.ts)
  })
})

describe('the card that remains when the first post was hidden, its build failed, and it was posted again', () => {
  const HIDDEN = { ...unclearButLands(), listedAfterMs: 22 * SECOND }

  async function postedAgain(...fates: Partial<Fate>[]) {
    const stage = await openStage()
    stage.slack.fate(({ name }) => (name === 'post' ? (fates.shift() ?? {}) : {}))
    await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(5 * SECOND)
    await stage.hear('error')
    await stage.clock.advance(5 * MINUTE)
    return stage
  }

  const born = ({ slack }: Stage) => slack.messages.map(({ first }) => inBrief(first).replace(' 512', ''))

  test('is the newer one if both are found; it announced the failure itself, so there is no reply', async () => {
    await using stage = await postedAgain({ ...HIDDEN, listedAfterMs: 30 * SECOND }, unclearButLands(12 * SECOND))
    expect(says(stage)).toEqual(['card failed'])
    expect(born(stage)).toEqual(['card failed'])
  })

  test('is the first one if only that arrived; it is edited, and a reply announces the failure', async () => {
    await using stage = await postedAgain(HIDDEN, UNCLEAR_LOST)
    expect(says(stage)).toEqual(['card failed', 'reply failed'])
    expect(born(stage)).toEqual(['card started', 'reply failed'])
  })

  test('is the first one if two later posts were lost', async () => {
    await using stage = await postedAgain({ ...HIDDEN, listedAfterMs: 45 * SECOND }, UNCLEAR_LOST, UNCLEAR_LOST)
    expect(born(stage)).toEqual(['card started', 'reply failed'])
  })

  test('is the first one if that announced the failure already, and there is no reply', async () => {
    await using stage = await openStage()
    stage.slack.meet(HIDDEN, {}, {}, UNCLEAR_LOST)
    await stage.live()
    await stage.hear('error')
    await stage.clock.advance(5 * MINUTE)
    expect(callsOf(stage).filter((name) => name === 'post')).toHaveLength(2)
    expect(says(stage)).toEqual(['card failed'])
  })

  test('is recorded with the attempt that it announced itself, and an edit does not change that', async () => {
    await using stage = await openStage()
    stage.slack.fate(({ name }) => (name === 'post' ? (fates.shift() ?? {}) : {}))
    const fates: Partial<Fate>[] = [HIDDEN, UNCLEAR_LOST]
    await stage.hear('initiated')
    await stage.hear('error')
    await stage.live()
    await stage.clock.advance(5 * SECOND)
    await stage.hear('initiated')
    await stage.clock.advance(5 * MINUTE)
    expect(says(stage)).toEqual(['card started', 'reply failed'])
    expect((await stage.messagesOf(CARD))[0]!.postedAttempt).toBe('512.1')
    expect(stage.slack.messages[0]!.postedAttempt).toBe('512.1')
  })

  test('is the newer one if only that arrived, and no reply repeats what it announced', async () => {
    await using stage = await postedAgain(UNCLEAR_LOST, unclearButLands())
    expect(says(stage)).toEqual(['card failed'])
    expect(born(stage)).toEqual(['card failed'])
  })

  test('is the newer one if Slack confirmed it, and needs no edit', async () => {
    await using stage = await postedAgain(UNCLEAR_LOST, {})
    expect(says(stage)).toEqual(['card failed'])
    expect(callsOf(stage)).not.toContain('edit')
  })

  test('is the first one if that was found first, and a later look deletes the copy that arrived after it', async () => {
    await using stage = await postedAgain(HIDDEN, { ...unclearButLands(12 * SECOND), answersAfterMs: 5 * SECOND })
    expect(says(stage)).toEqual(['card failed', 'reply failed'])
  })

  test('is the newer one if Slack confirmed it, even if history shows the first one earlier', async () => {
    await using stage = await postedAgain(HIDDEN, { listedAfterMs: 25 * SECOND })
    expect(says(stage)).toEqual(['card failed'])
    expect(born(stage)).toEqual(['card failed'])
    expect(stage.slack.messages[0]!.ts).toBe((await stage.messagesOf(CARD))[0]!.ts)
  })

  test('is the first one if the channel was closed; the bot looks again before it posts there', async () => {
    const closed = { kind: 'channel-closed', code: 'is_archived' } as const
    await using stage = await postedAgain(HIDDEN, { landsAfterMs: null, failure: closed })
    await stage.clock.advance(CHANNEL_AGAIN_MS)
    expect(says(stage)).toEqual(['card failed', 'reply failed'])
    expect(born(stage)).toEqual(['card started', 'reply failed'])
  })

  test('is the first one if somebody deletes the newer one', async () => {
    await using stage = await openStage()
    stage.slack.meet(HIDDEN)
    await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(21 * SECOND)
    const [first, again] = stage.slack.messages
    stage.slack.lose(again!.ts)
    await stage.clock.advance(5 * MINUTE)
    expect(says(stage)).toEqual(['card started'])
    expect((await stage.messagesOf(CARD))[0]).toMatchObject({ state: 'posted', ts: first!.ts, doubtAt: null })
  })
})

describe('a reply with an unknown outcome, whose card was posted anew meanwhile,', () => {
  // Slack's answer takes a moment, so that later claims have later times.
  const FROZEN = {
    landsAfterMs: null,
    answersAfterMs: 1,
    failure: { kind: 'message-gone', code: 'edit_window_closed' },
  } as const

  async function failedAndStartedAgain(replyLands: boolean) {
    const stage = await openStage()
    let replies = 0
    stage.slack.fate(({ name, thread }) => {
      if (name === 'edit') return FROZEN
      if (name !== 'post' || thread === null || replies++ > 0) return {}
      return replyLands ? unclearButLands() : UNCLEAR_LOST
    })
    await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(2 * SECOND)
    await stage.hear('error', 'initiated')
    await stage.clock.advance(5 * MINUTE)
    return stage
  }

  test('is found below the old card, and is not posted twice', async () => {
    await using stage = await failedAndStartedAgain(true)
    expect(says(stage).toSorted()).toEqual(['card started', 'card started', 'reply failed'])
    const [old] = stage.slack.messages
    expect(stage.slack.messages.find(({ view }) => view.kind === 'reply')!.thread).toBe(old!.ts)
  })

  test('is posted below the new card if it did not arrive', async () => {
    await using stage = await failedAndStartedAgain(false)
    const anew = stage.slack.messages.findLast(({ view }) => view.kind === 'card')!
    expect(stage.slack.messages.filter(({ view }) => view.kind === 'reply').map(({ thread }) => thread)).toEqual([
      anew.ts,
    ])
  })
})

test('where a workspace allows no edits, the thread of the second card still says how each attempt ended', async () => {
  await using stage = await openStage()
  stage.slack.fate(({ name }) =>
    name === 'edit'
      ? { landsAfterMs: null, failure: { kind: 'message-gone', code: 'edit_window_closed' } }
      : { landsAfterMs: 1 },
  )
  await stage.live()
  for (const word of ['initiated', 'error', 'initiated', 'success', 'initiated', 'error']) {
    await stage.hear(word)
    await stage.clock.advance(MINUTE)
  }
  const [, second] = stage.slack.messages.filter(({ thread }) => thread === null)
  expect(says(stage)).toEqual(['card started', 'reply failed', 'card failed', 'reply flaky', 'reply failed'])
  expect(stage.slack.messages.slice(3).map(({ thread }) => thread)).toEqual([second!.ts, second!.ts])
})

describe('an edit with an unknown outcome', () => {
  const isEdit = ({ name }: { name: string }) => name === 'edit'

  test('is repeated at once, and again when the first edit can no longer land and overwrite it', async () => {
    await using stage = await openStage()
    await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(2 * SECOND)
    stage.slack.meet(unclearButLands(12 * SECOND))
    await stage.hear('waiting')
    await stage.clock.advance(SECOND)
    await stage.hear('initiated')
    await stage.clock.advance(10 * SECOND)
    expect(says(stage)).toEqual(['card started'])
    await stage.clock.advance(4 * SECOND)
    expect(says(stage)).toEqual(['card waiting'])
    await stage.clock.advance(MINUTE)
    expect(says(stage)).toEqual(['card started'])
    const edits = stage.slack.calls.filter(isEdit)
    expect(edits.at(-1)!.at - edits[0]!.at).toBeGreaterThanOrEqual(LANDING_MAX_MS)
    await stage.clock.advance(5 * MINUTE)
    expect(stage.slack.calls.filter(isEdit)).toHaveLength(edits.length)
  })

  test('that a crash interrupted is repeated by the next process', async () => {
    await using stage = await openStage()
    const first = await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(2 * SECOND)
    stage.slack.fate(() => ({ landsAfterMs: 12 * SECOND }))
    await stage.hear('waiting')
    await stage.clock.advance(2 * SECOND)
    first.kill()
    stage.slack.fate(() => ({}))
    await stage.live()
    await stage.hear('initiated')
    await stage.clock.advance(MINUTE)
    expect(stage.slack.calls.filter(isEdit).length).toBeGreaterThanOrEqual(3)
    expect(says(stage)).toEqual(['card started'])
  })
})

test("an outdated edit is never sent, while a card's first post always is", async () => {
  await using stage = await openStage()
  const deps = await receivedAndIngested(stage, 'initiated')
  await sendNext(deps, CARD, 'post')
  for (const word of ['waiting', 'initiated', 'waiting', 'error']) await stage.hear(word)
  await stage.live()
  await stage.clock.advance(MINUTE)
  expect(stage.slack.calls.filter(({ name }) => name === 'edit')).toHaveLength(1)
  expect(says(stage)).toEqual(['card failed', 'reply failed'])
  expect(stage.clock.now()).toBeGreaterThan(T0)
})
