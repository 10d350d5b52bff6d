import { expect, it } from 'vitest'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import type { Streak } from '../../src/domain/builds/streak.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { STREAK_ACTION_ID } from '../../src/slack/messages/ids.ts'
import { databasePath, rowsOf, until } from '../support/app.ts'
import { buttonsOf, openWorld, press, pushRed, threadOf, untilCard, type World } from '../support/world.ts'
import { BUILDS } from './channel.ts'
import { untilModal } from './project-forms.ts'

const { lin } = PEOPLE

const HOUR_MS = 60 * 60_000

/** The job runs every 15 s. */
const DUE_MAX_MS = 40_000

/** Makes the branch red for a long time. */
async function age(world: World, change: Partial<Streak>): Promise<void> {
  const [row] = rowsOf(world.folder, 'select id from breakage') as { id: string }[]
  const store = openSqlite(databasePath(world.folder))
  const stands = await store.read.streak(row!.id)
  await store.write(async (tx) => {
    await tx.saveStreak({ ...stands!, ...change })
    const told = (await tx.streakChanges([row!.id])).find(({ kind }) => kind === 'lapsed')
    if (!told) return
    await tx.removeStreakChange(told.id)
    await tx.insertStreakChange({ ...told, at: Date.now() - HOUR_MS })
  })
  await store.close()
}

/** The bot's direct messages to this person. */
function directTo({ slack }: World, user: string) {
  const channel = [...slack.workspace.channels.values()].find(
    ({ members, id }) => id.startsWith('D') && [...members].includes(user),
  )
  return { channel: channel?.id ?? '', messages: channel ? slack.messages(channel.id) : [] }
}

it('an owner whose time is over gets a direct message with a button; then the channel gets a reminder, also as a broadcast', async () => {
  const subscriptions = [`{ channel: ${BUILDS}, project: all, events: [changes], remind: 30m 0-24 daily }`]
  const world = await openWorld({ subscriptions })
  await pushRed(world)
  const card = await untilCard(world, ['Failed', 'acme/web'], STREAK_ACTION_ID)
  const now = Date.now()
  await age(world, { beganAt: now - 3 * HOUR_MS, owner: lin, ownedAt: now - 2 * HOUR_MS, ownerUntil: now - HOUR_MS })
  const told = () => directTo(world, lin).messages.filter(({ text }) => String(text).includes('your time on it is up'))
  await until('the owner is told', () => told().length === 1, DUE_MAX_MS)
  expect(buttonsOf(told())).toEqual([STREAK_ACTION_ID])
  await press(world, lin, { ts: String(told()[0]?.['ts']) }, STREAK_ACTION_ID, directTo(world, lin).channel)
  await untilModal(world, ['has been red since'], lin)
  await age(world, {})
  const reminder = ':bell: acme/web on `main` has been red for 3 h (1 build) and nobody is on it'
  await until('the thread is reminded', () => threadOf(world, card).includes(reminder), DUE_MAX_MS)
  const [said] = world.slack.messages(BUILDS).filter(({ text }) => text === reminder)
  expect(said).toMatchObject({ subtype: 'thread_broadcast', thread_ts: card.ts })
  expect(told()).toHaveLength(1)
}, 120_000)
