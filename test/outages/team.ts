import type { ChannelId } from '../../src/domain/ids.ts'
import { openStage, follower, type Stage } from '../alerts/stage.ts'
import { channelId, MINUTE, T0, type Said } from '../support/build-events.ts'
import { inBrief, type Call, type Fate } from '../support/fake-notifier.ts'

/** Six projects, each with its own channel. */
export const CHANNELS = Array.from({ length: 6 }, (_, n) => channelId(`C0OUTAGE0${n}`))

/** These have a running card when Slack goes away. */
export const EARLY = 60

/** These have ended and are shown when Slack goes away, one for each channel. Their numbers are above all others. */
const ENDED = numbers(60_001, 60_000 + CHANNELS.length)

/** Out of step with everything that runs once a second. */
export const OUTAGE_MS = 10 * MINUTE + 337
export const GOES_AT = T0 + 2 * MINUTE
export const BACK_AT = GOES_AT + OUTAGE_MS

const projectOf = (n: number): number => n % CHANNELS.length

/** An event of build n, which has its own branch and commit. */
const of = (n: number, word: string): Said => ({
  word,
  build: String(n),
  project: String(100 + projectOf(n)),
  branch: `fix/${n}`,
  commit: n.toString(16).padStart(4, '0').repeat(10),
})

/** The states of a build during the outage, and the final one on its card. */
const FATES = [
  { said: ['initiated', 'error'], end: 'failed' },
  { said: ['initiated', 'waiting', 'initiated', 'success'], end: 'passed' },
  { said: ['initiated', 'infrastructure_failure'], end: 'infrastructure_failure' },
  { said: ['initiated'], end: 'started' },
  { said: ['error', 'initiated', 'success'], end: 'flaky' },
] as const

const fateOf = (n: number) => FATES[Math.floor(n / CHANNELS.length) % FATES.length]!

/** A team whose Slack is away for ten minutes, while this many builds arrive, most of them with several states. */
export async function liveThroughOutage(builds: number, fateOfCall: (call: Call) => Partial<Fate>): Promise<Stage> {
  const stage = await openStage({
    subscriptions: CHANNELS.map((channel, p) =>
      follower(channel, { follows: { what: 'project', name: String(100 + p) } }),
    ),
  })
  stage.slack.fate((call) => (call.at >= GOES_AT && call.at < BACK_AT ? fateOfCall(call) : { landsAfterMs: 50 }))
  await stage.live()
  for (const n of numbers(1, EARLY)) await stage.hear(of(n, 'initiated'))
  for (const n of ENDED) await stage.hear(of(n, 'initiated'), of(n, 'success'))
  await stage.clock.advance(GOES_AT - stage.clock.now())
  await hearInTurns(stage, builds)
  await stage.clock.advance(BACK_AT - stage.clock.now())
  return stage
}

/** The first event of each build, then the second of each, and so on, spread over the outage. */
async function hearInTurns(stage: Stage, builds: number): Promise<void> {
  const turns = Math.max(...FATES.map(({ said }) => said.length))
  for (let turn = 0; turn < turns; turn++) {
    for (const n of numbers(1, builds)) {
      const word = fateOf(n).said[turn]
      if (word && !(n <= EARLY && word === 'initiated' && turn === 0)) await stage.hear(of(n, word))
    }
    await stage.clock.advance(OUTAGE_MS / turns - 1)
  }
}

export const inChannel = ({ slack }: Stage, channel: ChannelId) =>
  slack.messages.filter((message) => message.channel === channel)

/** The cards of all channels in brief, by build: `7 failed`. */
export const cardsShown = ({ slack }: Stage): string[] =>
  slack.messages.filter(({ thread }) => thread === null).map(({ view }) => inBrief(view).replace('card ', ''))

export const cardsWanted = (builds: number): string[] => [
  ...numbers(1, builds).map((n) => `${n} ${fateOf(n).end}`),
  ...ENDED.map((n) => `${n} passed`),
]

/** The expected replies: one for each ended attempt, except the one that the card announced itself. */
export const repliesWanted = (stage: Stage, builds: number): string[] =>
  numbers(1, builds).flatMap((n) => {
    const ended = fateOf(n).said.filter((word) => word !== 'initiated' && word !== 'waiting')
    return ended.slice(isBornAsItIs(stage, n) ? 1 : 0).map(() => String(n))
  })

const isBornAsItIs = ({ slack }: Stage, n: number): boolean => {
  const card = slack.messages.find(({ thread, view }) => thread === null && inBrief(view).startsWith(`card ${n} `))
  return card !== undefined && inBrief(card.first) === inBrief(card.view)
}

export const repliesShown = ({ slack }: Stage): string[] =>
  slack.messages.flatMap(({ thread, view }) => (thread !== null && view.kind === 'reply' ? view.build.buildId : []))

/** Whether the red cards that a channel got after the outage were posted before the others. */
export function isRedFirst(stage: Stage, channel: ChannelId): boolean {
  const late = inChannel(stage, channel).filter(({ thread, postedAt }) => thread === null && postedAt >= BACK_AT)
  const reds = late.map(({ view }) => /failed|infrastructure_failure/.test(inBrief(view)))
  return reds.length > 0 && reds.lastIndexOf(true) < reds.indexOf(false)
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i)
}

export const isEnded = (build: string): boolean => ENDED.includes(Number(build))

/** Whether the build had a card before the outage. */
export const stoodBefore = ({ slack }: Stage, build: string): boolean =>
  slack.messages.some(
    ({ thread, postedAt, view }) =>
      thread === null && postedAt < BACK_AT && view.kind === 'card' && view.build.buildId === build,
  )
