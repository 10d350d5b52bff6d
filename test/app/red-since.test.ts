import { expect, test } from 'vitest'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { STREAK_ACTION_ID } from '../../src/slack/messages/ids.ts'
import { buildOf, openStage, sendAll, settled, until, type Build } from '../support/app.ts'
import { cardIn, press, type, untilAnswered } from '../support/world.ts'
import { BUILDS } from './channel.ts'
import { saidBy, untilModal } from './project-forms.ts'

const { ada } = PEOPLE
const MINUTE_MS = 60_000

/** `since <!date^1777800600^…> (3 builds)`: the second, and the count. */
const SINCE = /since <!date\^(\d+)\^[^>]*> \((\d+) builds?\)/

/** `is on it until <!date^1777800600^…>`: the second. */
const ON_IT = /is on it until <!date\^(\d+)\^/

test('card, /ci status, /ci red, Home, digest and form agree since when a branch is red, and how many builds failed', async () => {
  const stage = await openStage({ settings: { DEFAULT_CHANNEL: BUILDS }, slack: { rates: 'off' } })
  const { app, slack } = stage
  slack.connectBot(`${app.url}/slack/events`)
  const now = Date.now()
  const ended = (n: number, status: string, minutesAgo: number): Build =>
    buildOf(n, { status, finished_at: new Date(now - minutesAgo * MINUTE_MS).toISOString() })
  await sendAll(app.url, ended(511, 'success', 30 * 60), ended(512, 'error', 120))
  await sendAll(app.url, ended(513, 'infrastructure_failure', 60), ended(514, 'error', 30))
  await sendAll(app.url, buildOf(515, { status: 'initiated' }))
  await settled(app.url)

  const card = cardIn(slack, BUILDS, '#514')!
  expect(saidBy(card)).toContain('2nd in a row')
  expect(saidBy(card)).toContain('red for 1 h 30 min (2 builds)')

  const said: Record<string, string> = {}
  for (const [text, words] of [
    ['status acme/web main', ['The last 5 builds']],
    ['red', ['1 branch is red']],
    ['digest now', ['Red now']],
  ] as const) {
    await type(stage, ada, `/ci ${text}`)
    said[text] = (await untilAnswered(stage, ada, words)).text
  }
  await press(stage, ada, card, STREAK_ACTION_ID)
  said['form'] = saidBy(await untilModal(stage, ['has been red since'], ada))
  await type(stage, ada, '/ci me Ada')
  await untilAnswered(stage, ada, ['Ada'])
  await slack.people.openHome(ada)
  said['home'] = await until('Home shows it', () => {
    const home = saidBy(slack.views.home(ada))
    return home.includes('red since') && home
  })

  const since = String(Math.floor((now - 120 * MINUTE_MS) / 1_000))
  const agreed = Object.keys(said).map((place) => [place, SINCE.exec(said[place]!)?.slice(1)])
  expect(agreed).toEqual(Object.keys(said).map((place) => [place, [since, '2']]))

  await slack.people.submitView({
    user: ada,
    values: { breakage_wish: { value: { selected_option: { value: 'take-4' } } } },
  })
  await type(stage, ada, '/ci red')
  const [, until4h] = ON_IT.exec((await untilAnswered(stage, ada, [`<@${ada}> is on it`])).text)!
  await type(stage, ada, '/ci digest now')
  // By name, since a digest mentions nobody.
  const { text } = await untilAnswered(stage, ada, ['Red now', '· Ada is on it'])
  expect([ON_IT.exec(text)?.[1], text.includes('<@')]).toEqual([until4h, false])
})
