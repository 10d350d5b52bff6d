import { test } from 'vitest'
import { openBoth } from '../../packages/sandbox-slack/test/bot.ts'
import { START_MS } from '../../packages/sandbox-slack/test/stage.ts'
import { describeInBrowser, openPage } from './stage.ts'
import { message } from './person.ts'

describeInBrowser('a date', () => {
  test('is said in words where it is near, in the reader’s zone, and goes on with the time', async () => {
    const { sandbox, post } = await openBoth()
    const page = await openPage(sandbox.url)
    await page.clock.install()
    await page.reload()
    const date = (hours: number, format: string) => `<!date^${START_MS / 1_000 + hours * 3_600}^${format}|UTC>`
    const days = [-48, -24, 0, 24].map((hours) => date(hours, '{date_short_pretty}')).join(' · ')
    await post({ text: `${days} · ${date(0, '{date_pretty}')} · ${date(-24, '{date_long_pretty}')}` })
    await message(page, 'Jul 28 · yesterday · today · tomorrow · today · yesterday')
    await post({ text: `It began ${date(-4, '{ago}')}, and ended ${date(0, '{ago}')}` })
    await message(page, 'It began 4 hours ago, and ended just now')
    await page.clock.runFor('03:00')
    await message(page, /ended [23] minutes ago/)
  })
})
