import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { DemoProcess } from '../../packages/demo/src/gallery/demo-process.ts'
import {
  actAs,
  answer,
  chooseFor,
  goTo,
  message,
  messages,
  modal,
  noDialog,
  openThread,
  reply,
  write,
} from './person.ts'
import { describeDemo, openPage } from './stage.ts'

/** Answers the build's number: a second try of one claim must leave the builds of the others alone. */
async function push(demo: DemoProcess, project: string, more: object): Promise<string> {
  const asked = { branch: 'main', message: 'Fix login', committer: 'Ada', ...more }
  const { id } = (await demo.ci(`projects/${encodeURIComponent(project)}/push`, asked)) as { id: string }
  return id
}

/** A card of this build in this state. */
async function card(page: Page, words: string, build: string): Promise<Locator> {
  const found = messages(page, new RegExp(`${words} ${build}\\b`)).filter({ hasNotText: 'Only visible to you' })
  // The same words stand in the channel again, below the card, when the build has ended.
  await found.first().waitFor()
  return found.first()
}

describeDemo('whoever presses', (demo) => {
  test('Restart makes it run again: the thread says who asked, and the card that it is fixed', async () => {
    const page = await openPage(demo().url)
    const id = await push(demo(), 'acme/web', { outcome: 'error', ms: 100 })
    const failed = await card(page, 'Failed', `acme/web #${id}`)
    await actAs(page, 'Lin')
    await failed.getByRole('button', { name: 'Restart' }).click()
    await answer(page, 'Restart requested')
    const fixed = await card(page, String.raw`\(flaky\)`, `acme/web #${id}`)
    const opened = await openThread(page, fixed)
    await opened.getByText('Restart requested by @Lin').last().waitFor()
  })

  test('Stop asks first, and stops after yes', async () => {
    const page = await openPage(demo().url)
    const asked = { branch: 'load-test', message: 'Try a million visitors', outcome: 'none' }
    const id = await push(demo(), 'acme/web', asked)
    const running = await card(page, 'Running', `acme/web #${id}`)
    await running.getByRole('button', { name: 'Stop' }).click()
    const sure = await modal(page, 'Stop this build?')
    expect(await sure.innerText()).toContain('load-test')
    await sure.getByRole('button', { name: 'Stop it' }).click()
    await noDialog(page)
    await card(page, 'Stopped', `acme/web #${id}`)
  })

  test('a choice of projects answers for the chosen one', async () => {
    const page = await openPage(demo().url)
    await write(page, '/ci status acme')
    const choice = await answer(page, 'acme/api')
    await choice.getByRole('button', { name: 'acme/web' }).click()
    await answer(page, /acme\/web.*load-test/s)
  })

  test('in a thread a mention means its build; the message’s menu restarts it', async () => {
    const page = await openPage(demo().url)
    const fixed = await card(page, String.raw`\(flaky\)`, String.raw`acme/web #\d+`)
    const opened = await openThread(page, fixed)
    await reply(page, '@Buildline status')
    await opened.getByText('Only visible to you').first().waitFor()
    await chooseFor(page, fixed, 'Restart this build')
    await answer(page, 'Restart requested')
  })

  test('Remove asks first, and the channel is unsubscribed', async () => {
    const page = await openPage(demo().url)
    await goTo(page, 'ops')
    await write(page, '/ci subscribe acme/api failed main')
    await message(page, 'subscribed this channel to acme/api')
    await write(page, '/ci rules')
    const rules = await answer(page, /subscription/)
    await rules.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove it' }).click()
    await message(page, 'unsubscribed this channel from')
  })

  test('Refresh says how it is now', async () => {
    const page = await openPage(demo().url)
    const id = await push(demo(), 'acme/api', { branch: 'slow', outcome: 'none' })
    await card(page, 'Running', `acme/api #${id}`)
    await write(page, `/ci restart #${id}`)
    const refused = await answer(page, /not restarted/)
    await demo().ci(`builds/${id}/finish`, { outcome: 'success' })
    await card(page, 'Passed', `acme/api #${id}`)
    await refused.getByRole('button', { name: 'Refresh' }).click()
    await answer(page, new RegExp(`Passed.*acme/api #${id}`, 's'))
  })

  test('Home shows whose builds are red, and takes mentions away and gives them back', async () => {
    const page = await openPage(demo().url)
    await actAs(page, 'Grace')
    await write(page, '/ci me grace')
    await answer(page, 'is yours')
    const id = await push(demo(), 'acme/api', { committer: 'grace', message: 'Drop v1', outcome: 'error', ms: 100 })
    await card(page, '(?:Failed|Still failing)', `acme/api #${id}`)
    await goTo(page, 'Buildline')
    const home = page.getByRole('region', { name: 'Buildline' })
    await home
      .getByText(/Failed.*acme\/api/)
      .first()
      .waitFor()
    await home.getByRole('button', { name: /[Mm]entions? off|Turn .*off|Stop mention/ }).click()
    await home.getByRole('button', { name: /[Mm]entions? on|Turn .*on/ }).waitFor()
  })
})
