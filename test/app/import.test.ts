import { expect, test } from 'vitest'
import { SUBSCRIPTION_ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { rowsOf } from '../support/app.ts'
import { openReady, press, type, untilAnswered, type World } from '../support/world.ts'

const { web: WEB } = CHANNELS
const { ada, grace, gus } = PEOPLE

const LIST = 'acme/web - issues, workflows:{event:"push" branch:"main"}\n<https://github.com/acme/shop|acme/shop>'

const kept = ({ folder }: World) => rowsOf(folder, 'select channel, rules from subscription')

const linesIn = ({ slack }: World): string[] =>
  slack.messages(WEB).flatMap(({ text }) => (/subscribed this channel/.test(String(text)) ? [String(text)] : []))

test('/ci import with a pasted list makes a proposal, and its button subscribes', async () => {
  const world = await openReady()
  await type(world, ada, `/ci import ${LIST}`, WEB)
  const proposal = await untilAnswered(world, ada, ['*1 subscription* to import', 'acme/web', 'acme/shop'], WEB)
  expect(kept(world)).toEqual([])
  await press(world, ada, proposal, SUBSCRIPTION_ACTION_IDS.import, WEB)
  await untilAnswered(world, ada, ['*Subscribed* to *acme/web*'], WEB)
  expect(kept(world)).toEqual([{ channel: WEB, rules: expect.stringContaining('"main"') }])
  expect(linesIn(world)).toEqual([`:bell: <@${ada}> subscribed this channel to acme/web: changes on \`main\`.`])
  await type(world, grace, `/ci import ${LIST}`, WEB)
  await untilAnswered(world, grace, ['*Already subscribed* to all of this'], WEB)
})

test('/ci import is not for guests, and it needs the list', async () => {
  const world = await openReady()
  await type(world, gus, `/ci import ${LIST}`, WEB)
  await untilAnswered(world, gus, ['you cannot change subscriptions'], WEB)
  await type(world, ada, '/ci import', WEB)
  await untilAnswered(world, ada, ['this command needs the list'], WEB)
  await world.slack.people.mentionBot({ user: ada, channel: WEB, text: 'import acme/web workflows:{branch:"main"}' })
  await untilAnswered(world, ada, ['acme/web', 'on `main`'], WEB)
  expect(kept(world)).toEqual([])
})
