import { describe, expect, onTestFinished, test } from 'vitest'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { rowsOf, settled, settingsWith, startApp, testFolder, until } from '../support/app.ts'
import { openEmulatedSlack, type EmulatedSlack, type Message } from './emulate.ts'
import { openEmulatedGithub, type EmulatedGithub } from './emulate-github.ts'

const MINUTES_MS = 5 * 60_000

const untilCard = (slack: EmulatedSlack, words: string): Promise<Message> =>
  until(words, async () => (await slack.roots()).find(({ text }) => text.includes(words)), MINUTES_MS)

const runsIn = async (github: EmulatedGithub): Promise<unknown> =>
  (await github.call('actions/runs')).body['total_count']

// By polling alone a running build is no news, so that there is no Stop to click here.
describe("between somebody else's GitHub and somebody else's Slack, by polling alone", () => {
  test('a failed run and a fixed one are told once, and Restart is one call', { timeout: MINUTES_MS }, async () => {
    const [slack, github] = [await openEmulatedSlack(), await openEmulatedGithub()]
    github.finish(github.start(), 'success')
    const folder = testFolder()
    const app = await startApp(
      settingsWith(folder, { WEBHOOK_SECRET: undefined, ...slack.settings, ...github.settings }),
    )
    onTestFinished(() => app.stop())
    await until('the bot has looked', () => rowsOf(folder, 'select 1 from fact').length === 1, MINUTES_MS)

    github.finish(github.start(), 'failure')
    const red = await untilCard(slack, 'acme/web CI #2 failed on `main`')
    expect(await slack.click(app.url, red, ACTION_IDS.restart)).toBe(200)
    // The bot asks for the failed jobs alone, which this GitHub does not know.
    await until('the thread says why not', async () =>
      /GitHub refused/.test((await slack.replies(red.ts))[0]?.text ?? ''),
    )
    expect(await runsIn(github)).toBe(2)

    github.finish(github.start(), 'success')
    const green = await untilCard(slack, 'acme/web CI #3 is fixed on `main`')
    expect(await slack.click(app.url, green, ACTION_IDS.restart)).toBe(200)
    // A restarted run is the same run in the real GitHub, and a new one here.
    await until('there is one run more', async () => (await runsIn(github)) === 4)
    await settled(app.url, MINUTES_MS)
    expect((await slack.roots()).map(({ ts }) => ts)).toEqual([red.ts, green.ts])
    expect(await slack.replies(red.ts)).toHaveLength(1)
    expect(await runsIn(github)).toBe(4)
    expect(app.lines.filter((line) => /"level":[56]0/.test(line))).toEqual([])
  })

  // When it gets one of these, the test above should use it.
  test.each([
    ['POST', 'actions/runs/1/rerun-failed-jobs'],
    ['GET', 'actions/runs/1/attempts/1/jobs'],
  ] as const)('the bot does without %s %s, which this GitHub lacks', async (method, path) => {
    const github = await openEmulatedGithub()
    github.finish(github.start(), 'failure')
    expect(await github.call(path, method)).toMatchObject({ status: 404 })
  })
})
