import { describe, expect, test } from 'vitest'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { exportAudit } from '../../src/cli/audit.ts'
import { STREAK_ACTION_ID } from '../../src/slack/messages/ids.ts'
import { databasePath, rowsOf, until } from '../support/app.ts'
import {
  buttonsOf,
  openWorld,
  press,
  pushRed,
  threadOf,
  type,
  untilAnswered,
  untilCard,
  untilThread,
  type Shown,
  type World,
} from '../support/world.ts'
import { BUILDS, WEB } from './channel.ts'
import { restartADayLater } from './claimants.ts'
import { saidBy, topOf, untilModal } from './project-forms.ts'

const { ada, grace, lin, gus } = PEOPLE

const changes = ({ folder }: World): string[] =>
  rowsOf(folder, 'select kind, made_by, made_to from breakage_change order by at, id').map((row) =>
    Object.values(row as Record<string, string | null>)
      .filter((value) => value !== null)
      .join(' '),
  )

/** A red branch with its card. */
async function openRed(): Promise<{ world: World; card: Shown }> {
  const world = await openWorld()
  await pushRed(world)
  return { world, card: await untilCard(world, ['Failed', 'acme/web'], STREAK_ACTION_ID) }
}

/** Clicks the button and submits the form with this choice. */
async function choose(world: World, user: string, card: Shown, wish: string, to?: string): Promise<void> {
  await press(world, user, card, STREAK_ACTION_ID)
  await untilModal(world, ['has been red since'], user)
  await send(world, user, wish, to)
}

const send = ({ slack }: World, user: string, wish: string, to?: string) =>
  slack.people.submitView({
    user,
    values: {
      breakage_wish: { value: { selected_option: { value: wish } } },
      ...(to === undefined ? {} : { breakage_to: { breakage_to: { selected_user: to } } }),
    },
  })

/** The cards of a channel with the button, by their ts. */
const offeredIn = ({ slack }: World, channel: string): string[] =>
  slack
    .messages(channel)
    .flatMap((message) => (buttonsOf(message).includes(STREAK_ACTION_ID) ? [String(message['ts'])] : []))

/** Makes the branch pass. */
async function fix({ ci }: World): Promise<void> {
  ci.push('acme/web', { branch: 'main', outcome: 'success', ms: 0 })
}

const directTo = ({ slack }: World, user: string): string[] =>
  [...slack.workspace.channels.values()]
    .filter(({ kind, members }) => kind === 'im' && members.has(user))
    .flatMap(({ messages }) => [...messages.values()].map(({ text }) => text))

const mention = ({ slack }: World, user: string, card: Shown, text: string) =>
  slack.people.mentionBot({ user, channel: BUILDS, text, threadTs: card.ts })

describe('a red branch', () => {
  test('is taken, handed over and let go, in the form and in the thread; each change is one line and one audit row', async () => {
    const { world, card } = await openRed()
    await choose(world, lin, card, 'take-4')
    await untilThread(world, card, `:raising_hand: <@${lin}> is on it until`)
    expect(topOf(world, lin)).toBeUndefined()
    await until('the card says so', () =>
      JSON.stringify(world.slack.messages(BUILDS)).includes(`<@${lin}> is on it until`),
    )
    await choose(world, ada, card, 'hand', grace)
    await untilThread(world, card, `<@${ada}> handed it to <@${grace}> until`)
    await mention(world, lin, card, 'let go')
    await untilAnswered(world, lin, ['Nothing to change', `<@${grace}> is on it until`])
    await mention(world, grace, card, 'let go')
    await untilThread(world, card, `<@${grace}> let it go`)
    await mention(world, ada, card, 'on it tomorrow')
    await untilAnswered(world, ada, ["*You're on* acme/web `main` until"])
    await untilThread(world, card, `<@${ada}> is on it until`)
    expect(threadOf(world, card).filter((line) => /^:(?:raising_hand|wave):/.test(line))).toHaveLength(4)
    expect(changes(world)).toEqual([`taken ${lin}`, `handed ${ada} ${grace}`, `let-go ${grace}`, `taken ${ada}`])
    const printed: string[] = []
    await exportAudit({
      databaseUrl: `sqlite:${databasePath(world.folder)}`,
      sinceMs: 0,
      print: (line) => printed.push(line),
    })
    expect(printed.map((line) => (JSON.parse(line) as { action: string }).action)).toEqual(
      ['taken', 'handed', 'let-go', 'taken'].map((kind) => `red-branch-${kind}`),
    )
  })

  test('cannot be taken by a guest, handed to one, or handed over without a person', async () => {
    const { world, card } = await openRed()
    await press(world, gus, card, STREAK_ACTION_ID)
    await untilModal(world, ['you cannot look after red branches', 'Guests can only read'], gus)
    await mention(world, gus, card, 'on it')
    await untilAnswered(world, gus, ['you cannot look after red branches'])
    await choose(world, lin, card, 'hand')
    expect(saidBy(topOf(world, lin))).toContain('has been red since')
    await send(world, lin, 'take-4', grace)
    await send(world, lin, 'hand', gus)
    expect(saidBy(topOf(world, lin))).toContain('has been red since')
    expect(changes(world)).toEqual([])
  })

  test('is taken by a person who hands it to themselves, and the thread says from whom', async () => {
    const { world, card } = await openRed()
    await mention(world, lin, card, 'on it 4h')
    await untilThread(world, card, `<@${lin}> is on it until`)
    await choose(world, ada, card, 'hand', ada)
    await untilThread(world, card, `<@${ada}> took it over from <@${lin}> until`)
    expect(changes(world)).toEqual([`taken ${lin}`, `taken ${ada}`])
  })

  test('that was fixed meanwhile is answered with the build that fixed it, and does not change', async () => {
    const { world, card } = await openRed()
    await press(world, lin, card, STREAK_ACTION_ID)
    await untilModal(world, ['has been red since'], lin)
    await fix(world)
    await untilCard(world, ['Fixed'])
    await send(world, lin, 'take-1')
    await until('Lin is told directly', () =>
      directTo(world, lin).some((text) => text.includes('*Already fixed* by acme/web')),
    )
    await mention(world, ada, card, 'on it 4h')
    await untilAnswered(world, ada, ['Already fixed', '#502', 'nothing was changed'])
    await until('the button is gone', () => !buttonsOf(world.slack.messages(BUILDS)).includes(STREAK_ACTION_ID))
    expect(changes(world)).toEqual([])
  })

  test('that one person takes twice at once is taken once', async () => {
    const { world, card } = await openRed()
    await Promise.all([mention(world, lin, card, 'on it tomorrow'), mention(world, lin, card, 'on it tomorrow')])
    await untilAnswered(world, lin, ['Nothing to change'])
    expect(changes(world)).toEqual([`taken ${lin}`])
  })

  test('is shown on the one card of a channel that follows changes, with later failures, until it is fixed', async () => {
    const events = (channel: string, list: string) => `{ channel: ${channel}, project: acme/web, events: [${list}] }`
    const world = await openWorld({
      subscriptions: [events(BUILDS, 'broken, recovered'), events(WEB, 'failed')],
    })
    await pushRed(world)
    const card = await untilCard(world, ['Failed', 'acme/web'], STREAK_ACTION_ID)
    await pushRed(world)
    const newest = await untilCard(world, ['#502'], STREAK_ACTION_ID, WEB)
    const own = () => JSON.stringify(world.slack.messages(BUILDS))
    await until('the card counts both', () => /still failing since[^"]*\(2 builds\)/.test(own()))
    await until('the older card of #web has no button', () => offeredIn(world, WEB).join() === newest.ts)
    expect(offeredIn(world, BUILDS)).toEqual([card.ts])
    await mention(world, lin, card, 'on it 4h')
    await untilThread(world, card, `<@${lin}> is on it until`)
    await until('the thread of the newest says so too', () =>
      JSON.stringify(world.slack.messages(WEB)).includes(`:raising_hand: <@${lin}> is on it until`),
    )
    await until('the card says so', () => /<@U[^"]*is on it until[^"]*"[^]*breakage_own/.test(own()))
    const audited: string[] = []
    const print = (line: string) => audited.push(line)
    await exportAudit({ databaseUrl: `sqlite:${databasePath(world.folder)}`, sinceMs: 0, print })
    expect(audited).toHaveLength(1)
    await fix(world)
    await until('no card offers it', () => [...offeredIn(world, BUILDS), ...offeredIn(world, WEB)].length === 0)
    expect(own()).not.toContain('still failing since')
  })

  test('loses an owner who leaves the workspace, and the thread says so', async () => {
    const { world, card } = await openRed()
    await mention(world, lin, card, 'on it 30m')
    await untilThread(world, card, `<@${lin}> is on it`)
    world.slack.acts.deactivate(lin)
    await restartADayLater(world)
    await untilThread(world, card, `<@${lin}> has left the workspace: nobody is on it now`)
    await type(world, ada, '/ci red')
    const { text } = await untilAnswered(world, ada, ['1 branch is red', 'acme/web'])
    expect(text).not.toContain('is on it')
  })

  test('is in /ci red and /ci status with its owner, also for a single project', async () => {
    const { world } = await openRed()
    await type(world, lin, '/ci on it 4h acme/web@main')
    await untilAnswered(world, lin, ["You're on"])
    for (const line of ['/ci red', '/ci red acme/web', '/ci status acme/web'])
      await type(world, ada, line).then(() => untilAnswered(world, ada, ['acme/web', `<@${lin}> is on it until`]))
    await type(world, ada, '/ci red acme/ios')
    await untilAnswered(world, ada, ['No red branches', 'acme/ios'])
    await type(world, ada, '/ci on')
    await untilAnswered(world, ada, ['1 branch is red', 'acme/web', `<@${lin}> is on it until`])
  })
})
