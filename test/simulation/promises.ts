import type { StreakChange } from '../../src/domain/builds/streak.ts'
import type { CardView, NoteView } from '../../src/domain/cards/view.ts'
import { act, type StreakAction } from '../../src/features/streaks/action.ts'
import type { Stage } from '../alerts/stage.ts'
import { LIN } from '../support/build-events.ts'
import type { Shown } from '../support/fake-notifier.ts'
import type { Hands } from './people.ts'
import type { Random } from './random.ts'
import { isForGood } from './scenario.ts'
import type { World } from './simulate.ts'

// People take a red branch for a minute or two, hand it over, snooze its reminders, and let it go.

const EVE = 'U0EVE00001'
const PEOPLE = [LIN, EVE]

/** Somebody clicks a button about a branch, which may be green again. @param times Slack may deliver a click twice */
export function promise({ sql }: Stage, random: Random, hands: Hands, times: number): void {
  const ids = (sql('select id from breakage order by id') as { id: string }[]).map(({ id }) => id)
  if (ids.length === 0) return
  const user = random.pick(PEOPLE)
  const wish = wishOf(random, user)
  const id = random.pick(ids)
  const interactionKey = hands.newId()
  const { deps } = hands.process
  const doing = {
    ...deps,
    sites: { ci: null, github: null, gitlab: null },
    newId: hands.newId,
    permits: async () => ({ kind: 'yes' }) as const,
    timeZoneOf: async () => 'UTC',
  }
  const by = { user, team: null, channel: null, via: 'button', interactionKey } as const
  for (let i = 0; i < times; i++) void act(doing, { kind: 'streak', id }, wish, by).catch(NOTHING)
}

// The person gets an error message; only what is stored matters here.
const NOTHING = () => {}

function wishOf(random: Random, user: string): StreakAction {
  const to = PEOPLE.find((other) => other !== user)!
  return random.pick<StreakAction>([
    { kind: 'take', span: random.between(1, 2) },
    { kind: 'take', span: 60 },
    { kind: 'hand', to },
    { kind: 'snooze', minutes: random.between(1, 2) },
    { kind: 'let-go' },
  ])
}

/** A stored change. `card` is the name of the card whose thread has its line. */
export interface Promised extends Pick<StreakChange, 'id' | 'streakId' | 'kind' | 'by' | 'to' | 'until' | 'at'> {
  channel: string | null
  card: string
  isForgotten: boolean
}

/** No reminders while a branch has an owner; each term lapses once; each change has one line; cards name the owner. */
export function judgePromises(world: World): string[] {
  const { stage, memory } = world
  const changes = memory.changes()
  const wrongs = [...changes.flatMap((change) => judgeLine(world, change)), ...judgeNotes(world, changes)]
  const owners = new Map<string, Owner>()
  for (const change of changes) {
    // The line of the same change on a channel's other card.
    if (change.id.endsWith(`:${change.channel}`)) continue
    const owner = owners.get(change.streakId) ?? NOBODY
    if (!isAllowed(change, owner)) wrongs.push(`a change that could not be: ${JSON.stringify([owner, change])}`)
    owners.set(change.streakId, after(owner, change))
  }
  const cards = stage.slack.messages.filter(
    ({ ts, view, channel }) =>
      view.kind === 'card' && view.ownership && !world.frozen.has(ts) && !isClosedForGood(world, channel),
  )
  for (const { channel, view } of cards) {
    const { id, owner } = (view as CardView).ownership!
    const { user, until } = owners.get(id) ?? NOBODY
    const wanted = user !== null && until > stage.clock.now() ? user : null
    if ((owner?.user ?? null) !== wanted)
      wrongs.push(`a card in ${channel} says ${owner?.user} is on it, not ${wanted}`)
  }
  return [...wrongs, ...stage.sql(AFTER_GREEN).map((row) => `promised after green: ${JSON.stringify(row)}`)]
}

const isClosedForGood = ({ scenario: { weather } }: World, channel: string): boolean =>
  isForGood(weather) && channel === weather.closed!.channel

/** The owner of a red branch, replayed from its changes. */
interface Owner {
  user: string | null
  until: number
  snoozedUntil: number
  hasLapsed: boolean
}

const NOBODY: Owner = { user: null, until: 0, snoozedUntil: 0, hasLapsed: false }

function isAllowed({ kind, by, at }: Promised, { user, until, snoozedUntil, hasLapsed }: Owner): boolean {
  if (kind === 'let-go') return user === by && until > at
  if (kind === 'lapsed') return user === by && until <= at && !hasLapsed
  return kind !== 'reminded' || Math.max(until, snoozedUntil) <= at
}

function after(owner: Owner, { kind, by, to, until }: Promised): Owner {
  if (kind === 'taken' || kind === 'handed') return { ...owner, user: to ?? by, until: until!, hasLapsed: false }
  if (kind === 'snoozed') return { ...owner, snoozedUntil: until! }
  if (kind === 'let-go') return { ...owner, user: null, until: 0 }
  return { ...owner, hasLapsed: owner.hasLapsed || kind === 'lapsed' }
}

/** One line in the thread of each existing card, and none twice. */
function judgeLine(world: World, change: Promised): string[] {
  const { stage, memory, lost, frozen } = world
  if (change.kind === 'lapsed' || change.kind === 'reminded') return []
  const own = (messages: readonly Shown[], slot: string) =>
    messages.filter(({ key, channel }) => {
      const claim = memory.claimOf(key)
      const isThere = change.channel === null || change.channel === channel
      return isThere && claim?.card === change.card && claim.slot === slot
    })
  return own(stage.slack.messages, 'card').flatMap(({ channel }) => {
    if (isClosedForGood(world, channel)) return []
    const isIn = (message: Shown) => message.channel === channel
    const touched = [
      ...own(lost, 'card'),
      ...own(lost, `own:${change.id}`),
      ...own(stage.slack.messages, 'card').filter(({ ts }) => frozen.has(ts)),
    ]
    const lines = own(stage.slack.messages, `own:${change.id}`).filter(isIn)
    if (touched.some(isIn) || lines.length === 1 || (change.isForgotten && lines.length === 0)) return []
    return [`${lines.length} lines of ${JSON.stringify(change)} in ${channel}`]
  })
}

/** Each note is about a change that was made; a note below a lost or frozen card may have none. */
function judgeNotes({ memory, stage, lost, frozen }: World, changes: readonly Promised[]): string[] {
  const made = new Map(changes.map((change) => [`own:${change.id}`, change]))
  const gone = new Set<string | null>([...lost.map(({ ts }) => ts), ...frozen])
  return stage.slack.messages.flatMap(({ key, thread, view }) => {
    if (view.kind !== 'note') return []
    const change = made.get(memory.claimOf(key)?.slot ?? '')
    if (change ? saysIt(view, change) : gone.has(thread)) return []
    return [`a line about nothing: ${JSON.stringify(view)}`]
  })
}

const saysIt = ({ what, by, to, until }: NoteView, change: Promised): boolean =>
  what === change.kind && by === change.by && to === change.to && until === change.until

const AFTER_GREEN = `select c.id, c.at, d.decided_at from breakage_change c join breakage b on b.id = c.breakage_id
  join fact f on f.branch_key = b.branch_key and f.verdict = 1 and f.word = 'success' and f.build_order > b.newest_order
  join decision d on d.fact_seq = f.seq
  where c.ask_key is not null and b.ended_at is not null and c.at > d.decided_at`
