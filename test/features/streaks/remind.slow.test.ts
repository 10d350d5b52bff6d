import { describe, expect, test } from 'vitest'
import { remind } from '../../../src/features/streaks/remind.ts'
import { changeStreak, NO_OWNER } from '../../../src/projects/streaks.ts'
import type { ReminderRule } from '../../../src/domain/builds/reminder.ts'
import type { Streak, StreakChange } from '../../../src/domain/builds/streak.ts'
import type { MessageTs } from '../../../src/domain/ids.ts'
import { branchKey } from '../../../src/domain/builds/revision.ts'
import type { Subscription } from '../../../src/domain/rules/subscription.ts'
import { BUILDS, follower, openStage, RELEASES, type Incarnation, type Stage } from '../../alerts/stage.ts'
import { HOUR, LIN, MINUTE, projectId, SECOND, T0, WEB, type Said } from '../../support/build-events.ts'
import { inBrief, UNSENT, UNCLEAR_LOST } from '../../support/fake-notifier.ts'

const WEEK = 7 * 24 * HOUR

const MAIN = branchKey(projectId(WEB), 'main')

/** Short: every second of it, the bot looks for work. */
const AFTER = 10 * MINUTE

const RULE: ReminderRule = { afterMs: AFTER, fromHour: 0, toHour: 24, days: 'daily', zone: 'UTC' }

const reminding = (change: Partial<Subscription> = {}) => follower(BUILDS, { remind: RULE, ...change })

const built = (build: number, word: string): Said => ({
  word,
  build: String(build),
  commit: `${build}`.repeat(40).slice(0, 40),
  details: { projectName: 'acme/web' },
})

interface Play extends AsyncDisposable {
  stage: Stage
  life: Incarnation
  /** the users who got direct messages */
  said: string[]
  fail(): void
  /** Lets time pass, with the job running at its interval. */
  pass(ms: number): Promise<void>
  hear(build: number, word: string): Promise<void>
  change(about: Partial<Streak>, kind: StreakChange['kind']): Promise<void>
}

async function play(...subscriptions: Subscription[]): Promise<Play> {
  const stage = await openStage({ subscriptions: subscriptions.length > 0 ? subscriptions : [reminding()] })
  const life = await stage.live()
  const said: string[] = []
  let failing = 0
  const job = jobOf(stage, life, async (to, text) => {
    if (failing-- > 0) return { kind: 'unsent', code: 'ECONNREFUSED' }
    said.push(`${to} ${text}`)
    return { kind: 'sent', ts: '1.0' as MessageTs }
  })
  let changes = 0
  async function pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= MINUTE) {
      await stage.clock.advance(Math.min(left, MINUTE))
      await job()
      await stage.clock.settle()
    }
    await stage.clock.advance(5 * SECOND)
  }
  return {
    stage,
    life,
    said,
    fail: () => void (failing = 1),
    pass,
    async hear(build, word) {
      await stage.hear(built(build, word))
      await stage.clock.advance(5 * SECOND)
    },
    change: (about, kind) =>
      stage.store.write(async (tx) => {
        const open = (await tx.openStreak(MAIN))!
        const id = `c${(changes += 1)}`
        const at = stage.clock.now()
        await changeStreak(
          tx,
          { ...open, ...about },
          { id, interactionKey: id, kind, by: LIN, to: null, until: null, at },
        )
      }),
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  }
}

let ids = 0

const jobOf =
  (stage: Stage, { deps }: Pick<Incarnation, 'deps'>, sendText: Parameters<typeof remind>[0]['sendText']) =>
  () =>
    remind(
      {
        ...deps,
        subscriptions: async () => stage.subscriptions,
        newId: () => `r${(ids += 1)}`,
        sendText,
        endGone: async () => {},
      },
      new AbortController().signal,
    )

const reminders = ({ slack }: Stage): string[] =>
  slack.messages
    .filter(({ view }) => view.kind === 'reminder')
    .map(({ channel, first }) => `${channel} ${inBrief(first)}`)

describe('the reminder of a red branch', () => {
  test('without an owner is in its thread, the first one also in the channel, at most three times', async () => {
    await using played = await play()
    const { stage, hear, pass } = played
    await hear(1, 'error')
    await pass(AFTER - 2 * MINUTE)
    expect(reminders(stage)).toEqual([])
    await hear(2, 'error')
    await pass(4 * MINUTE)
    expect(reminders(stage)).toEqual(['C0BUILDS01 reminder to all'])
    const [reminder] = stage.slack.messages.filter(({ view }) => view.kind === 'reminder')
    expect(reminder?.first).toMatchObject({ project: 'acme/web', branch: 'main', builds: 2 })
    const card = stage.slack.messages.find(({ ts }) => ts === reminder?.thread)
    expect(card && inBrief(card.view)).toBe('card 2 failed')
    await pass(6 * AFTER)
    const first = 'C0BUILDS01 reminder to all'
    expect(reminders(stage)).toEqual([first, 'C0BUILDS01 reminder', 'C0BUILDS01 reminder'])
    expect(stage.sql('select 1 from breakage_change')).toHaveLength(3)
  })

  test.each([
    ["at Go's zero time", () => Date.parse('0001-01-01T00:00:00Z')],
    ['in 1970', () => 0],
    ['two hours ahead', (now: number) => now + 2 * HOUR],
  ])('comes as long after the receipt of a failure that ended %s', async (_, finishedAt) => {
    await using played = await play()
    const { stage, pass } = played
    await stage.hear({ ...built(1, 'error'), details: { finishedAt: finishedAt(stage.clock.now()) } })
    await pass(AFTER + MINUTE)
    expect(reminders(stage)).toEqual(['C0BUILDS01 reminder to all'])
  })

  test('needs a subscription with reminders, a matching branch and a card; quiet ones stay in the thread', async () => {
    const onRelease = { rules: [{ branch: 'release/*', branchMatch: 'wildcard', events: 'every' as const }] }
    const broken = { rules: [{ branch: null, branchMatch: null, events: ['broken', 'recovered'] }] }
    await using played = await play(
      follower(BUILDS, { follows: { what: 'project', name: 'acme/web' } }),
      reminding({ ...onRelease, follows: { what: 'project', name: 'acme/web' } }),
      reminding({ ...broken, channel: RELEASES, quiet: true }),
    )
    const { stage, hear, pass } = played
    await hear(1, 'error')
    await hear(2, 'error')
    await pass(1.5 * AFTER)
    expect(reminders(stage)).toEqual(['C0RELEASE1 reminder'])
  })

  test('comes once, late, if the bot was away at several due times', async () => {
    await using played = await play()
    const { stage, hear, pass } = played
    await hear(1, 'error')
    await stage.clock.advance(5 * AFTER)
    await pass(2 * MINUTE)
    expect(reminders(stage)).toHaveLength(1)
    await pass(AFTER)
    expect(reminders(stage)).toHaveLength(2)
  })

  test('does not come if it was due more than a week ago, but an owner is still told that their time was up', async () => {
    const redFor = async (ms: number) => {
      const played = await play()
      await played.hear(1, 'error')
      played.stage.sql('update breakage set began_at = ?', played.stage.clock.now() - ms)
      return played
    }
    await using dead = await redFor(AFTER + WEEK + MINUTE)
    await dead.pass(2 * MINUTE)
    expect(reminders(dead.stage)).toEqual([])
    await dead.change({ owner: LIN, ownedAt: T0, ownerUntil: dead.stage.clock.now() - WEEK - MINUTE }, 'taken')
    await dead.pass(2 * MINUTE)
    expect(dead.said).toHaveLength(1)
    await using red = await redFor(AFTER + WEEK - 10 * MINUTE)
    await red.pass(2 * MINUTE)
    expect(reminders(red.stage)).toEqual(['C0BUILDS01 reminder to all'])
  })

  test('does not come while somebody owns the branch or snoozes it; an owner whose time is over is told first, once', async () => {
    await using played = await play()
    const { stage, said, fail, hear, pass, change } = played
    await hear(1, 'error')
    await change({ owner: LIN, ownedAt: T0, ownerUntil: T0 + 2 * AFTER }, 'taken')
    await pass(2 * AFTER - MINUTE)
    expect([reminders(stage), said]).toEqual([[], []])
    fail()
    await pass(5 * MINUTE)
    expect(said).toEqual([
      expect.stringContaining(`${LIN} :hourglass: acme/web on \`main\` is still red, and your time on it is up`),
    ])
    expect(reminders(stage)).toEqual([])
    await pass(AFTER)
    expect([reminders(stage).length, said.length]).toEqual([1, 1])
    await change({ ...NO_OWNER, snoozedUntil: stage.clock.now() + 3 * AFTER }, 'snoozed')
    await pass(3 * AFTER - 2 * MINUTE)
    expect(reminders(stage)).toHaveLength(1)
    await pass(4 * MINUTE)
    expect(reminders(stage)).toHaveLength(2)
  })

  test('does not come after green', async () => {
    await using played = await play()
    const { stage, hear, pass } = played
    await hear(1, 'error')
    await pass(AFTER - 2 * MINUTE)
    await hear(2, 'success')
    await pass(4 * AFTER)
    expect(reminders(stage)).toEqual([])
  })

  test.each([
    ['Slack is away', UNSENT],
    ['its post has an unknown outcome', UNCLEAR_LOST],
  ])('does not come after green even if it was due before, while %s', async (_, fate) => {
    await using played = await play()
    const { stage, hear, pass } = played
    await hear(1, 'error')
    stage.slack.fate(({ view }) => (view?.kind === 'reminder' ? fate : undefined))
    await pass(AFTER + 3 * MINUTE)
    expect(stage.sql("select 1 from breakage_change where kind = 'reminded'")).toHaveLength(1)
    await stage.hear(built(2, 'success'))
    await stage.clock.advance(10 * SECOND)
    stage.slack.fate(() => undefined)
    await pass(4 * AFTER)
    expect(reminders(stage)).toEqual([])
    expect(Object.values(await stage.store.read.backlog(stage.clock.now()))).toEqual([0, 0, 0, 0])
  })

  test('comes once after an outage over several due times, with the newest state', async () => {
    await using played = await play()
    const { stage, hear, pass } = played
    await hear(1, 'error')
    stage.slack.fate(({ view }) => (view?.kind === 'reminder' ? UNSENT : undefined))
    await pass(4 * AFTER)
    stage.slack.fate(() => undefined)
    await pass(AFTER - 2 * MINUTE)
    expect(reminders(stage)).toHaveLength(1)
    const shown = stage.slack.messages.find(({ view }) => view.kind === 'reminder')?.first
    expect(shown?.kind === 'reminder' && shown.forMs).toBeGreaterThan(4 * AFTER - MINUTE)
  })

  test('that waited is dropped if somebody takes the branch', async () => {
    await using played = await play()
    const { stage, hear, pass, change } = played
    await hear(1, 'error')
    stage.slack.fate(({ view }) => (view?.kind === 'reminder' ? UNSENT : undefined))
    await pass(AFTER + 3 * MINUTE)
    const until = stage.clock.now() + 8 * AFTER
    await change({ owner: LIN, ownedAt: stage.clock.now(), ownerUntil: until }, 'taken')
    stage.slack.fate(() => undefined)
    await pass(2 * AFTER)
    expect(reminders(stage)).toEqual([])
  })
})

const STEPS = 100

test('is stored once and posted once, at whichever step the process dies', async () => {
  const at = new Set<string>()
  for (let fuse = 1; fuse <= STEPS; fuse++) {
    await using stage = await openStage({ subscriptions: [reminding()] })
    const first = await stage.live()
    await stage.hear(built(1, 'error'))
    await stage.clock.advance(5 * SECOND)
    first.kill()
    await stage.clock.advance(AFTER)
    const say = async () => ({ kind: 'unsent', code: 'nobody' }) as const
    const dying = await stage.live({}, fuse)
    void jobOf(stage, dying, say)()
    await stage.clock.advance(15 * SECOND)
    const isDead = dying.isDead()
    at.add(`${isDead} ${reminders(stage).length} ${stage.sql('select 1 from breakage_change').length}`)
    dying.kill()
    const heir = await stage.live()
    for (let n = 0; n < 8; n++) {
      await jobOf(stage, heir, say)()
      await stage.clock.advance(15 * SECOND)
    }
    expect([fuse, reminders(stage)]).toEqual([fuse, ['C0BUILDS01 reminder to all']])
  }
  // Before it was recorded, after that, and after it was posted.
  expect([...at].filter((one) => one.startsWith('true')).toSorted()).toEqual(['true 0 0', 'true 0 1', 'true 1 1'])
})
