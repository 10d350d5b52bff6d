import { isDeepStrictEqual } from 'node:util'
import { RAW_STATUSES, isFinal, toStatus } from '../../src/domain/builds/status.ts'
import type { Subscription } from '../../src/domain/rules/subscription.ts'
import type { CardView, View } from '../../src/domain/cards/view.ts'
import { BUILDS, follower, openStage } from '../alerts/stage.ts'
import { SECOND, type Said } from '../support/build-events.ts'
import { buildsOf, inOrder, type Delivery } from './builds.ts'
import { HOSTED_PLACES } from './hosted.ts'
import { inBrief } from '../support/fake-notifier.ts'
import { createRandom, type Random } from './random.ts'

// The same deliveries in several orders: people see the same in the end. That holds for the attempts of one build, and
// for builds of different streams. Builds of one stream are news in the order in which they are received.

export const CHANGES: Subscription['rules'] = [{ branch: null, branchMatch: null, events: ['broken', 'recovered'] }]
export const EVERY: Subscription['rules'] = [{ branch: null, branchMatch: null, events: 'every' }]

/** What Slack shows, and what was decided about each end, when these events have come in this order. */
export async function endOf(events: readonly Said[], rules: Subscription['rules']) {
  await using stage = await openStage({ subscriptions: [follower(BUILDS, { rules })] })
  await stage.live()
  for (const event of events) {
    await stage.hear(event)
    await stage.clock.advance(5 * SECOND)
  }
  await stage.clock.advance(60 * SECOND)
  const words = RAW_STATUSES.filter((word) => isFinal(toStatus(word))).map((word) => `'${word}'`)
  const decided = stage.sql(
    `select f.build_id, f.word, d.verdict = 'tell' as is_told, d.recovered, d.loud
     from decision d join fact f on f.seq = d.fact_seq where f.word in (${words.join()})
     order by f.build_id, json_extract(f.details, '$.attempt'), f.word`,
  )
  const cards = stage.slack.messages.filter(({ thread }) => thread === null)
  return {
    cards: cards.map(({ view }) => atAnyTime(view)).toSorted((a, b) => a.build.buildId.localeCompare(b.build.buildId)),
    replies: stage.slack.messages
      .filter(({ thread, view }) => thread !== null && !cards.some((card) => isOfNewest(view, card.view)))
      .map(({ view }) => inBrief(view))
      .toSorted(),
    decided,
  }
}

/** The card shows its newest attempt, which may have a reply or not. */
const isOfNewest = (reply: View, card: View): boolean =>
  reply.kind === 'reply' &&
  card.kind === 'card' &&
  reply.build.buildId === card.build.buildId &&
  reply.attemptNumber === card.attemptNumber

/**
 * A card without times, which are those of receipt here, without what only a newly posted card shows, and without our
 * own number of the attempt, where the source has none.
 */
function atAnyTime(view: View): Pick<CardView, 'build'> {
  const { history: _, durationMs: __, streak: ___, ownership: ____, ref: _____, ...rest } = view as CardView
  return rest
}

/** Plays what one seed's builds deliver in several orders. @returns what differs */
export async function judgeOrders(seed: number): Promise<string[]> {
  const random = createRandom(seed)
  const rules = random.pick([CHANGES, EVERY])
  const events = deliveredBy(random)
  const first = await endOf(events, rules)
  const wrongs: string[] = []
  for (let n = 0; n < ORDERS; n++) {
    const shuffled = shuffle(random, events)
    const end = await endOf(shuffled, rules)
    const parts = (['cards', 'replies', 'decided'] as const).filter((part) => !isSame(part, end, first, rules))
    for (const part of parts)
      wrongs.push(
        `${part}: ${JSON.stringify(end[part])} after ${said(shuffled)}, ${JSON.stringify(first[part])} after ${said(events)}`,
      )
  }
  return wrongs
}

const ORDERS = 3

type End = Awaited<ReturnType<typeof endOf>>

/** What was a change when it was sent is not taken back when an earlier attempt turns out to have made that change. */
function isSame(part: keyof End, end: End, first: End, rules: Subscription['rules']): boolean {
  if (part !== 'replies' || rules !== CHANGES) return isDeepStrictEqual(end[part], first[part])
  return first.replies.every((reply, i) => count(end.replies, reply) >= count(first.replies.slice(0, i + 1), reply))
}

const count = (all: readonly string[], one: string): number => all.filter((other) => other === one).length

/**
 * One build in each of a few streams. Of two words that end nothing, the later one counts: each attempt has one. GitLab
 * does not number its attempts: one of which nothing was received before two later ones is taken for the next.
 */
function deliveredBy(random: Random): Said[] {
  const places = shuffle(random, HOSTED_PLACES).slice(0, random.between(1, 2))
  return places.flatMap((place, i) => {
    const wanted = { from: 0, firstBuild: 501 + i * 10, hasUuid: () => false, commits: ['1'], forgetful: 0, lossy: 0 }
    const { truth } = buildsOf(random, { ...wanted, places: [place] })
    const own = truth.filter(({ said }) => said.build === truth[0]!.said.build)
    const ends = own.filter(({ jobs }) => jobs)
    const starts = own.filter(({ said, jobs }) => !jobs && said.word === 'initiated')
    const firsts = Map.groupBy(starts, ({ said: { details } }) => `${details?.attempt} ${details?.lastEndAt}`).values()
    const all = inOrder([...ends, ...[...firsts].map(([first]) => first!)])
    const second = place.project.startsWith('gitlab') ? ends[1]?.said.details?.lastEndAt : null
    const isBefore = ({ said, jobs }: Delivery) => second == null || said.details!.lastEndAt! < second + (jobs ? 1 : 0)
    return all.filter(isBefore).map(({ said }) => said)
  })
}

const shuffle = <T>(random: Random, all: readonly T[]): T[] =>
  all
    .map((one) => ({ one, at: random.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one)

const said = (events: readonly Said[]): string =>
  events.map(({ build, word, details }) => `${build}.${details?.attempt ?? details?.lastEndAt} ${word}`).join(', ')
