import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { signedHeaders } from '../../packages/sandbox-slack/src/sign.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { databasePath, rowsOf, send, until } from '../support/app.ts'
import {
  answersTo,
  cardIn,
  openReady,
  pushRed,
  type,
  untilAnswered,
  untilCard,
  writesTo,
  type Scene,
  type Shown,
  type World,
} from '../support/world.ts'

// Slack gives a private channel another id, for example when it is shared with another workspace.

const { secret: SECRET, builds: BUILDS } = CHANNELS
const { grace } = PEOPLE

/** Slack changes the channel's id, and the bot knows. @returns the new one */
async function move(world: World, channel: string = SECRET): Promise<string> {
  const id = world.slack.acts.changeId(channel)
  await until('the bot knows the new id', () =>
    rowsOf(world.folder, 'select id from moved_channel').some((row) => row['id'] === id),
  )
  return id
}

/** The tables in which a text stands somewhere. */
function tablesWith({ folder }: Pick<Scene, 'folder'>, text: string): string[] {
  const db = new DatabaseSync(databasePath(folder), { readOnly: true })
  try {
    const tables = db.prepare(`select name from sqlite_master where type = 'table'`).all()
    return tables
      .map(({ name }) => String(name))
      .filter((name) => JSON.stringify(db.prepare(`select * from "${name}"`).all()).includes(text))
  } finally {
    db.close()
  }
}

/** A request that Slack sent before the id changed, and delivers afterwards. */
async function sendLate(world: World, as: 'form' | 'json', body: object): Promise<void> {
  const text = as === 'form' ? `payload=${encodeURIComponent(JSON.stringify(body))}` : JSON.stringify(body)
  const headers = {
    'content-type': as === 'form' ? 'application/x-www-form-urlencoded' : 'application/json',
    ...signedHeaders(world.slack.signingSecret, Math.floor(Date.now() / 1_000), text),
  }
  expect(await send(world.app.url, text, { path: '/slack/events', headers })).toMatchObject({ status: 200 })
}

const clickOn = ({ slack: { workspace } }: World, { ts }: Shown, actionId: string, value: unknown) => ({
  type: 'block_actions',
  user: { id: grace, team_id: workspace.team.id },
  team: { id: workspace.team.id },
  channel: { id: SECRET, name: 'privategroup' },
  container: { type: 'message', message_ts: ts, channel_id: SECRET },
  message: { ts, type: 'message' },
  trigger_id: '1.2.late',
  actions: [{ type: 'button', action_id: actionId, block_id: 'b', value, action_ts: '1.2' }],
})

const mentionIn = ({ slack: { workspace } }: World, text: string) => ({
  type: 'event_callback',
  event_id: 'Ev0LATE',
  team_id: workspace.team.id,
  authorizations: [{ team_id: workspace.team.id, user_id: workspace.bot.userId, is_bot: true }],
  event: {
    type: 'app_mention',
    user: grace,
    channel: SECRET,
    ts: '9999.1',
    text: `<@${workspace.bot.userId}> ${text}`,
  },
})

const valueOf = (card: Shown, actionId: string): string =>
  new RegExp(`"action_id":"${actionId}"[^{}]*(?:{[^{}]*}[^{}]*)*"value":"([^"]+)"`).exec(JSON.stringify(card))![1]!

/** #secret follows acme/web and gets a digest; a build of it runs. */
async function openFollowed(): Promise<{ world: World; running: Shown }> {
  const world = await openReady()
  await type(world, grace, '/ci subscribe acme/web everything', SECRET)
  await untilAnswered(world, grace, ['Subscribed'], SECRET)
  await type(world, grace, '/ci digest daily 9:00', SECRET)
  await untilAnswered(world, grace, ['Digest'], SECRET)
  world.ci.push('acme/web', { outcome: 'none' })
  return { world, running: await untilCard(world, ['Running'], ACTION_IDS.stop, SECRET) }
}

describe('a channel that gets another id', () => {
  it('keeps its subscriptions, digest and cards under the new one', async () => {
    const { world, running } = await openFollowed()
    const id = await move(world)
    expect(tablesWith(world, SECRET)).toEqual(['moved_channel'])
    await pushRed(world, 'acme/web', 'fix/login')
    await untilCard(world, ['Failed', 'fix/login'], undefined, id)
    await type(world, grace, '/ci rules', id)
    await untilAnswered(world, grace, ['acme/web', 'every day at 9:00'], id)
    await world.slack.people.click({ user: grace, channel: id, ts: running.ts, actionId: ACTION_IDS.stop })
    await until('the same card shows the end', () => cardIn(world.slack, id, 'Stopped')?.ts === running.ts)
  })

  it('is still meant by what Slack delivers late, also after a restart', async () => {
    const { world, running } = await openFollowed()
    const value = valueOf(running, ACTION_IDS.stop)
    const id = await move(world)
    await world.restartApp()
    await sendLate(world, 'form', clickOn(world, running, ACTION_IDS.stop, value))
    await untilAnswered(world, grace, ['Stop requested'], id)
    expect(writesTo(world.ci, 'stop')).toHaveLength(1)
    await sendLate(world, 'json', mentionIn(world, 'rules'))
    await untilAnswered(world, grace, ['acme/web'], id)
    expect(tablesWith(world, SECRET)).toEqual(['moved_channel'])
  })

  it('may be DEFAULT_CHANNEL by its former id, which the doctor says is outdated', async () => {
    const world = await openReady({ settings: { DEFAULT_CHANNEL: SECRET } })
    const id = await move(world)
    await pushRed(world)
    await untilCard(world, ['Failed'], undefined, id)
    await type(world, grace, '/ci doctor', BUILDS)
    const { text } = await untilAnswered(world, grace, ['Channels'])
    expect(text).toContain(`\`DEFAULT_CHANNEL\` names <#${id}> by an id that it no longer has (\`${SECRET}\`).`)
    expect(text).toContain(`Write \`${id}\` there.`)
  })

  it('gets what was stored under the former id meanwhile, and nobody is told that it is closed', async () => {
    const { world } = await openFollowed()
    const id = await move(world)
    const before = answersTo(world, grace, id).length
    // As by a process that had read the subscriptions just before.
    const db = new DatabaseSync(databasePath(world.folder))
    db.exec(`insert into card (subject, channel, quiet, mention, post_at, post_priority, attempts, plain)
      select subject, '${SECRET}', 0, 0, 1, 1, 0, 0 from card limit 1;
      insert into channel (id, closed_code, closed_at, retry_at) values ('${SECRET}', 'channel_not_found', 1, 1)`)
    db.close()
    await until('it is moved too', () => tablesWith(world, SECRET).join() === 'moved_channel')
    expect(answersTo(world, grace, id)).toHaveLength(before)
    expect(world.slack.workspace.channels.has(`D${grace.slice(1)}`)).toBe(false)
  })
})
