import { describe, expect, test } from 'vitest'
import { parseMrkdwn } from '../page/slack/mrkdwn.ts'
import { readTyped } from '../page/store/deeds.ts'
import { mentionsOf } from '../page/store/mentions.ts'
import type { Snapshot } from '../page/store/wire.ts'
import { suggest } from '../page/workspace/suggest.ts'
import { CHANNELS, PEOPLE } from '../src/workspace.ts'
import { COMMAND_HINTS } from '../../demo/src/demo/hints.ts'
import { openStage } from './stage.ts'

const { ada, grace } = PEOPLE

async function known(inThread = false) {
  const { sandbox } = await openStage({ hints: COMMAND_HINTS })
  const { app, users, userGroups, channels } = (await (await fetch(`${sandbox.url}/sandbox/state`)).json()) as Snapshot
  return { app, users, userGroups, channels, inThread }
}

/** The suggestions at the caret `|`. */
async function offered(typed: string, inThread = false) {
  const caret = typed.indexOf('|')
  const found = suggest(typed.replace('|', ''), caret, await known(inThread))
  return { ...found, words: found.items.map(({ words }) => words) }
}

describe('the suggestions', () => {
  test.each<[string, string[]]>([
    ['/ci-s|', ['/ci-stop']],
    ['/ci st|', ['/ci status', '/ci stop']],
    ['/CI  st|', ['/ci status', '/ci stop']],
    ['call @gr|', ['@Grace']],
    ['(@rel|', ['@release']],
    ['see #rele|', ['#release-room']],
  ])('at %s are %j', async (typed, words) => {
    expect((await offered(typed)).words).toEqual(words)
  })

  test.each(['ci|', 'a/ci|', '/xyz|', 'mail@gr|', '@gr|ace', '@nobody|', '/ci st|op'])(
    'at %s are none',
    async (typed) => expect(await offered(typed)).toMatchObject({ items: [], hint: null }),
  )

  test('for a command have its description and usage, from the same table as the help', async () => {
    const [stop] = (await offered('/ci stop|')).items
    expect(stop).toEqual({
      insert: '/ci stop ',
      words: '/ci stop',
      usage: '[project[@branch] | #build | build address | uuid]',
      more: 'stops a running build; alone, it shows what is running here',
    })
    expect((await offered('/ci stop acme/web|')).hint).toMatchObject({ words: '/ci stop' })
    expect((await offered('/ci-list acme|')).hint).toMatchObject({ usage: '[text] [basic|pro] [page]' })
  })

  test('at / are the slash commands of the manifest', async () => {
    const { app } = await known()
    const slash = app.commands.map(({ command }) => command).filter((command) => !command.includes(' '))
    expect((await offered('/|')).words).toEqual(slash)
    expect(slash.slice(0, 2)).toEqual(['/ci', '/ci-list'])
  })

  test('include every word that the manifest names after /ci', async () => {
    const { app } = await known()
    const { usage = '' } = app.commands.find(({ command }) => command === '/ci') ?? {}
    const words = await Promise.all(usage.split(' | ').map(async (word) => (await offered(`/ci ${word}|`)).words))
    expect(words.length).toBeGreaterThan(10)
    expect(words.every((found) => found.length > 0)).toBe(true)
  })

  test('in a thread, where Slack runs no commands, are only people', async () => {
    expect((await offered('/ci st|', true)).words).toEqual([])
    expect((await offered('@buil|', true)).words).toEqual(['@Buildline'])
  })
})

describe('names in typed text', () => {
  const at = { user: ada, channel: CHANNELS.builds }
  const read = async (typed: string) => {
    const { app, ...rest } = await known()
    const byId = <Item extends { id: string }>(items: readonly Item[]) => new Map(items.map((one) => [one.id, one]))
    const mentions = mentionsOf({
      users: byId(rest.users),
      channels: byId(rest.channels),
      userGroups: rest.userGroups,
    })
    const escaped = new Set(app.commands.filter(({ isEscaped }) => isEscaped).map(({ command }) => command))
    return readTyped(typed, at, 'Buildline', { mentions, escaped })
  }

  test.each([
    ['thanks @grace, see #web', `thanks <@${grace}>, see <#${CHANNELS.web}|web>`],
    ['@release @here', '<!subteam^S0RELEASE1|@release> <!here>'],
    ['a@grace.test @gracee @buildline why', 'a@grace.test @gracee @buildline why'],
  ])('%s is sent as %s', async (typed, text) => {
    expect(await read(typed)).toMatchObject({ deed: { kind: 'say', text } })
  })

  test('are replaced by ids after commands with should_escape, and sent as typed after others', async () => {
    expect(await read('/ci me ada for @grace')).toMatchObject({ deed: { text: `me ada for <@${grace}|grace>` } })
    expect(await read('/ci-list @grace')).toMatchObject({ deed: { text: '@grace' } })
  })
})

describe('mrkdwn for the acting person', () => {
  test('marks mentions of them and of everybody, but not of others', () => {
    const isMe = (text: string) => parseMrkdwn(text, { me: ada }).some((node) => 'isMe' in node)
    expect([`<@${ada}>`, '<!here>', `<@${grace}>`, '<#C1|web>'].map(isMe)).toEqual([true, true, false, false])
  })

  test('shows lines that begin with > as a quote, and any other > as a character', () => {
    expect(parseMrkdwn('said:\n&gt; *one*\n&gt;two\nend')).toEqual([
      { kind: 'text', text: 'said:\n' },
      {
        kind: 'quote',
        children: [
          { kind: 'bold', children: [{ kind: 'text', text: 'one' }] },
          { kind: 'text', text: '\ntwo' },
        ],
      },
      { kind: 'text', text: 'end' },
    ])
    expect(parseMrkdwn('a &gt; b')).toEqual([{ kind: 'text', text: 'a > b' }])
  })

  test.each([
    [':octagonal_sign:', '🛑'],
    [':hammer_and_wrench:', '🛠️'],
    [':wave:', '👋'],
  ])('%s is %s', (name, text) => expect(parseMrkdwn(name)).toMatchObject([{ kind: 'emoji', text }]))
})
