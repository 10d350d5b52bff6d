import { describe, expect, test } from 'vitest'
import { RAW_STATUSES, isFinal, toStatus } from '../../src/domain/status.ts'
import type { CardView, View } from '../../src/domain/view.ts'
import { SECOND, type Said } from '../support/build-events.ts'
import { inBrief } from '../support/fake-notifier.ts'
import { BUILDS, follower, openStage } from './stage.ts'

// Whatever the order in which a source's deliveries arrive, people see the same in the end.

const said = (attempt: number, word: string): Said => ({ word, details: { attempt, projectName: 'acme/web' } })

const CHANGES = [{ branch: null, branchMatch: null, events: ['broken', 'recovered'] }]
const EVERY = [{ branch: null, branchMatch: null, events: 'every' as const }]

/** What Slack shows, and what was decided about each end, when these events have come in this order. */
async function endOf(events: readonly Said[], rules: typeof CHANGES | typeof EVERY) {
  await using stage = await openStage({ subscriptions: [follower(BUILDS, { rules })] })
  await stage.live()
  for (const event of events) {
    await stage.hear(event)
    await stage.clock.advance(5 * SECOND)
  }
  await stage.clock.advance(60 * SECOND)
  const words = RAW_STATUSES.filter((word) => isFinal(toStatus(word))).map((word) => `'${word}'`)
  const decided = stage.sql(
    `select f.word, json_extract(f.details, '$.attempt') as attempt, d.verdict = 'tell' as is_told, d.recovered, d.loud
     from decision d join fact f on f.seq = d.fact_seq where f.word in (${words.join()}) order by attempt`,
  )
  const [card] = stage.slack.messages.filter(({ thread }) => thread === null)
  const replies = stage.slack.messages.filter(({ thread, view }) => thread !== null && !isOfNewest(view, card?.view))
  return { card: card && atAnyTime(card.view), replies: replies.map(({ view }) => inBrief(view)).toSorted(), decided }
}

/** A card that was posted with the end of an attempt needs no reply about it. */
const isOfNewest = (reply: View, card: View | undefined): boolean =>
  reply.kind === 'reply' && card?.kind === 'card' && reply.attemptNumber === card.attemptNumber

/** A card without times, which are those of receipt here, and without what only a newly posted card shows. */
function atAnyTime(view: View): object {
  const { history: _, durationMs: __, streak: ___, breakage: ____, ...rest } = view as CardView
  return rest
}

const orders = <T>(all: readonly T[]): T[][] =>
  all.length <= 1
    ? [[...all]]
    : all.flatMap((one, i) => orders([...all.slice(0, i), ...all.slice(i + 1)]).map((rest) => [one, ...rest]))

describe.each([
  ['that failed and passed', [said(1, 'initiated'), said(1, 'error'), said(2, 'initiated'), said(2, 'success')]],
  ['that failed twice', [said(1, 'error'), said(2, 'initiated'), said(2, 'error')]],
  ['of which one was stopped', [said(1, 'stopped'), said(2, 'initiated'), said(2, 'success'), said(3, 'error')]],
])('two attempts of a build %s', (_, events) => {
  test.each([
    ['every event', EVERY],
    ['changes', CHANGES],
  ])('end in the same card, replies and decisions in every order, in a channel that follows %s', async (__, rules) => {
    const inOrder = await endOf(events, rules)
    expect(inOrder.card).toBeDefined()
    for (const order of orders(events)) expect(await endOf(order, rules)).toEqual(inOrder)
  })
})
