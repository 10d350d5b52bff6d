import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { buildOf, delivery, rowsOf, send, settled, startApp, until } from '../support/app.ts'
import { startPostgres } from '../support/postgres.ts'
import {
  answersTo,
  cardIn,
  openScene,
  openReady,
  pushRed,
  reload,
  startBot,
  type,
  untilAnswered,
  untilCard,
  untilKnown,
  type Scene,
  type World,
} from '../support/world.ts'

const { builds: BUILDS, web: WEB, ops: OPS, secret: SECRET } = CHANNELS
const { ada, grace } = PEOPLE

const CLOSED = 'cannot get builds any more'

/** The bot's direct messages to this person. */
const directTo = ({ slack }: Pick<Scene, 'slack'>, user: string): string[] => {
  const id = `D${user.slice(1)}`
  return slack.workspace.channels.has(id) ? slack.messages(id).map(({ text }) => String(text)) : []
}

const closedIn = ({ folder }: Pick<Scene, 'folder'>) => rowsOf(folder, 'select id, closed_code, told_at from channel')

const untilTold = (scene: Pick<Scene, 'slack'>, user: string, count: number) =>
  until(
    `${user} is told ${count} times`,
    () => directTo(scene, user).filter((text) => text.includes(CLOSED)).length === count,
  )

/** #web follows acme/web, subscribed by Ada. */
async function openFollowing(options: Parameters<typeof openReady>[0] = {}, channel: string = WEB): Promise<World> {
  const world = await openReady(options)
  const by = channel === SECRET ? grace : ada
  await type(world, by, '/ci subscribe acme/web failed', channel)
  await untilAnswered(world, by, ['Subscribed'], channel)
  return world
}

/** Unarchives a channel and invites the bot to it. Without the invitation, the channel is tried after ten minutes. */
async function reopen({ slack }: Pick<Scene, 'slack'>, channel: string): Promise<void> {
  slack.acts.unarchive(channel)
  await slack.people.sendEvent({ type: 'member_joined_channel', user: slack.workspace.bot.userId, channel })
}

describe('a channel that is archived', () => {
  it('is paused, its owner is told once, and it gets what waited when it opens again', async () => {
    const world = await openFollowing()
    world.slack.acts.archive(WEB)
    await pushRed(world)
    await untilTold(world, ada, 1)
    expect(closedIn(world)).toMatchObject([{ id: WEB, closed_code: 'is_archived' }])
    expect(directTo(world, ada)[0]).toContain(`<#${WEB}> *${CLOSED}*: it is archived.`)
    expect(directTo(world, ada)[0]).toContain('It is subscribed to acme/web.')
    expect(cardIn(world.slack, WEB, 'Failed')).toBeUndefined()
    await reopen(world, WEB)
    await untilCard(world, ['Failed', 'acme/web'], undefined, WEB)
    expect(closedIn(world)).toEqual([])
    expect(directTo(world, ada)).toHaveLength(1)
    expect(directTo(world, grace)).toEqual([])
  })

  it('goes to the default channel with the build that showed it, which nobody would have seen', async () => {
    const world = await openFollowing({ slack: { rates: 'off', events: [] } })
    world.slack.acts.archive(WEB)
    await pushRed(world)
    await untilCard(world, ['Failed', 'acme/web'])
    await until('one line says why', () =>
      world.slack.messages(BUILDS).some(({ text }) => String(text).includes(`<#${WEB}> cannot be reached`)),
    )
    expect(world.slack.messages(BUILDS).filter(({ text }) => String(text).includes('acme/web #'))).toHaveLength(1)
  })

  it('does not bring back what it has shown, though an older card waits for an edit', async () => {
    const world = await openFollowing()
    const red = (n: number) => delivery({ ...buildOf(n), status: 'error' })
    await send(world.app.url, red(1))
    await untilCard(world, ['Failed', 'acme/web'], undefined, WEB)
    await settled(world.app.url)
    world.slack.acts.archive(WEB)
    await send(world.app.url, red(2))
    await untilCard(world, ['Still failing', '#2'])
    const waiting = `select 1 from card where channel = '${WEB}' and edit_at is not null`
    await until('the older card waits', () => rowsOf(world.folder, waiting).length === 1)
    const done = `select 1 from job where name = 'show-elsewhere ${WEB}'`
    await until('all is looked through', () => rowsOf(world.folder, done).length === 1)
    await send(world.app.url, red(3))
    await untilCard(world, ['Still failing', '#3'])
    expect(cardIn(world.slack, BUILDS, 'acme/web #1')).toBeUndefined()
  })

  it('shows the end of a build elsewhere whose beginning it has shown', async () => {
    const world = await openReady({ slack: { rates: 'off', events: [] } })
    await type(world, ada, '/ci subscribe acme/web all', WEB)
    await untilAnswered(world, ada, ['Subscribed'], WEB)
    await send(world.app.url, delivery())
    await untilCard(world, ['Running', 'acme/web'], undefined, WEB)
    await settled(world.app.url)
    world.slack.acts.archive(WEB)
    await send(world.app.url, delivery({ status: 'error' }))
    await untilCard(world, ['Failed', 'acme/web'])
  })

  it('shows elsewhere what came while the default channel was closed as well', async () => {
    const { app, slack, folder } = await openReady({
      subscriptions: [
        `{ channel: ${WEB}, project: acme/web, events: [started], branch: fix/* }`,
        `{ channel: ${OPS}, project: acme/web, events: [failed] }`,
      ],
    })
    const untilClosed = (count: number) =>
      until(`${count} channels are closed`, () => closedIn({ folder }).length === count)
    slack.acts.archive(WEB)
    await send(app.url, delivery({ ...buildOf(1), branch: 'fix/one' }))
    await untilClosed(1)
    const done = `select 1 from job where name = 'show-elsewhere ${WEB}' and last_done_at > 0`
    await until('all is looked through', () => rowsOf(folder, done).length === 1)
    slack.acts.archive(BUILDS)
    await send(app.url, delivery({ ...buildOf(2), branch: 'fix/two' }))
    await untilClosed(2)
    await send(app.url, delivery({ ...buildOf(3), branch: 'fix/three' }))
    await untilKnown({ folder }, 3)
    await reopen({ slack }, BUILDS)
    await untilCard({ slack }, ['Running', 'fix/three'])
  })

  it('is reported to the admins if a file made it follow', async () => {
    const world = await openReady({
      settings: { CI_ADMINS: grace },
      subscriptions: [`{ channel: ${WEB}, project: acme/web }`],
    })
    world.slack.acts.archive(WEB)
    await pushRed(world)
    await untilTold(world, grace, 1)
    expect(directTo(world, ada)).toEqual([])
  })

  it('without subscriptions is reported to nobody', async () => {
    const world = await openFollowing({ settings: { CI_ADMINS: grace } })
    world.slack.acts.archive(OPS)
    world.slack.acts.archive(WEB)
    await pushRed(world)
    await untilTold(world, ada, 1)
    expect(closedIn(world).map(({ id }) => id)).toEqual([WEB])
    expect(directTo(world, grace)).toEqual([])
  })

  it('is reported by the next process if the first one was killed before it could', async () => {
    const scene = await openScene()
    const bot = await startBot(scene)
    await untilKnown(scene, 0)
    await type(scene, ada, '/ci subscribe acme/web failed', WEB)
    await untilAnswered(scene, ada, ['Subscribed'], WEB)
    scene.slack.faults.add({ kind: 'down', method: 'chat.postMessage', channel: ada })
    scene.slack.acts.archive(WEB)
    await pushRed(scene)
    await until('it is closed', () => closedIn(scene).length === 1)
    bot.kill('SIGKILL')
    await bot.exit
    scene.slack.faults.clear()
    // A process that had begun to tell people would have ended by then.
    const { DatabaseSync } = await import('node:sqlite')
    const db = new DatabaseSync(`${scene.folder}/buildline.db`, { timeout: 5_000 })
    db.exec('update channel set told_at = told_at - 60000')
    db.close()
    await startBot(scene)
    await untilTold(scene, ada, 1)
    await type(scene, ada, '/ci rules', CHANNELS.builds)
    await untilAnswered(scene, ada, ['subscription'], CHANNELS.builds)
    expect(directTo(scene, ada)).toHaveLength(1)
  })
})

describe('a channel from which the bot was removed', () => {
  it.each([
    ['public', WEB],
    ['private', SECRET],
  ])('(%s) is paused until the bot is invited again', async (_, channel) => {
    const world = await openFollowing({}, channel)
    const owner = channel === SECRET ? grace : ada
    world.slack.acts.kickBot(channel)
    await pushRed(world)
    await untilTold(world, owner, 1)
    expect(directTo(world, owner)[0]).toContain('/invite @Buildline')
    world.slack.acts.inviteBot(channel)
    await untilCard(world, ['Failed', 'acme/web'], undefined, channel)
  })

  it('does not open when somebody else joins', async () => {
    const world = await openFollowing()
    world.slack.acts.archive(WEB)
    await pushRed(world)
    await untilTold(world, ada, 1)
    await world.slack.people.sendEvent({ type: 'member_joined_channel', user: grace, channel: WEB, team: 'T0SANDBOX1' })
    expect(closedIn(world)).toHaveLength(1)
  })
})

describe('a channel that is renamed or made private', () => {
  it('continues as before: its id stays, and the bot is in it', async () => {
    const world = await openFollowing()
    world.slack.acts.rename(WEB, 'web-team')
    world.slack.acts.makePrivate(WEB)
    await pushRed(world)
    await untilCard(world, ['Failed', 'acme/web'], undefined, WEB)
    expect(closedIn(world)).toEqual([])
    expect(directTo(world, ada)).toEqual([])
    reload(world)
    await type(world, ada, '/ci rules', WEB)
    await untilAnswered(world, ada, ['1 subscription'], WEB)
  })
})

const server = await startPostgres()
afterAll(async () => {
  if (!('impossible' in server)) await server[Symbol.asyncDispose]()
})

describe.skipIf('impossible' in server)('two processes on one PostgreSQL', () => {
  it('both know a subscription from the next delivery on, and report a closed channel once', async () => {
    if ('impossible' in server) return
    const scene = await openScene({ settings: { DATABASE_URL: await server.createDatabase() } })
    const [one, two] = [await startApp(scene.settings), await startApp(scene.settings)]
    onTestFinished(async () => {
      await Promise.all([one.stop(), two.stop()])
    })
    scene.connect(one.url)
    await until('both are ready', async () => (await isReady(one.url)) && (await isReady(two.url)))
    await send(two.url, delivery({ build_id: 1, commit_id: 'a'.repeat(40) }))
    await settled(two.url)
    await follow(scene, ada, WEB)
    await follow(scene, grace, OPS)
    await send(two.url, delivery({ build_id: 2, commit_id: 'b'.repeat(40), status: 'error' }))
    await untilCard(scene, ['Failed', 'acme/web'], undefined, WEB)
    scene.slack.acts.archive(WEB)
    // All earlier messages may have been posted; only a further one shows that the channel is closed.
    await send(one.url, delivery({ build_id: 4, commit_id: 'd'.repeat(40), status: 'error' }))
    await untilTold(scene, ada, 1)
    scene.slack.acts.archive(OPS)
    // Both processes look for closings at the same time, so the one that reports this one has seen the other one too.
    await send(two.url, delivery({ build_id: 3, commit_id: 'c'.repeat(40), status: 'error' }))
    await untilTold(scene, grace, 1)
    await untilTold(scene, ada, 1)
  })
})

const isReady = async (url: string): Promise<boolean> => (await fetch(`${url}/readyz`)).ok

const ANSWERED_WITHIN_MS = 4000

/** Repeats the command while CI's list is not read yet, or if a new database is slow. */
const follow = (scene: Scene, user: string, channel: string): Promise<unknown> =>
  until(`${channel} follows`, async () => {
    reload(scene)
    await type(scene, user, '/ci subscribe acme/web failed', channel)
    const isKept = () => answersTo(scene, user, channel).some(({ text }) => /subscribed/i.test(text))
    return until('it is kept', isKept, ANSWERED_WITHIN_MS).catch(() => null)
  })
