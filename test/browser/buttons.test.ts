import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { DemoProcess } from '../../src/tools/gallery/demo-process.ts'
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

const push = (demo: DemoProcess, project: string, more: object) =>
  demo.ci(`projects/${encodeURIComponent(project)}/push`, {
    branch: 'main',
    message: 'Fix login',
    committer: 'Ada',
    ...more,
  })

/** A card of this build in this state. */
async function card(page: Page, words: string, build: string): Promise<Locator> {
  const found = messages(page, new RegExp(`${words} ${build}\\b`)).filter({ hasNotText: 'Only visible to you' })
  await found.last().waitFor()
  return found.last()
}

describeDemo('whoever presses', (demo) => {
  test('Restart makes it run again: the thread says who asked, and the card that it is fixed', async () => {
    const page = await openPage(demo().url)
    await push(demo(), 'acme/web', { outcome: 'error', ms: 100 })
    const failed = await card(page, 'Failed', 'acme/web #501')
    await actAs(page, 'Lin')
    await failed.getByRole('button', { name: 'Restart' }).click()
    await answer(page, 'Restart requested')
    const fixed = await card(page, 'Fixed', 'acme/web #501')
    const opened = await openThread(page, fixed)
    await opened.getByText('Restart requested by @Lin').last().waitFor()
  })

  test('Stop asks first, and stops after yes', async () => {
    const page = await openPage(demo().url)
    await push(demo(), 'acme/web', { branch: 'load-test', message: 'Try a million visitors', outcome: 'none' })
    const running = await card(page, 'Running', 'acme/web #502')
    await running.getByRole('button', { name: 'Stop' }).click()
    const sure = await modal(page, 'Stop this build?')
    expect(await sure.innerText()).toContain('load-test')
    await sure.getByRole('button', { name: 'Stop it' }).click()
    await noDialog(page)
    await card(page, 'Stopped', 'acme/web #502')
  })

  test('Stop among what runs does the same, and what runs no more is not offered', async () => {
    const page = await openPage(demo().url)
    await push(demo(), 'acme/web', { branch: 'second', message: 'Again', outcome: 'none' })
    await card(page, 'Running', 'acme/web #503')
    await write(page, '/ci stop')
    const listed = await answer(page, 'acme/web #503')
    await listed.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop it' }).click()
    await card(page, 'Stopped', 'acme/web #503')
    await write(page, '/ci stop')
    await answer(page, /[Nn]othing runs/)
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
    const fixed = await card(page, 'Fixed', 'acme/web #501')
    const opened = await openThread(page, fixed)
    await reply(page, '@Buildline status')
    await opened.getByText('Only visible to you').first().waitFor()
    await chooseFor(page, fixed, 'Restart this build')
    await answer(page, 'Restart requested')
  })

  test('Remove asks first, and the channel follows no more', async () => {
    const page = await openPage(demo().url)
    await goTo(page, 'ops')
    await write(page, '/ci subscribe acme/api failed main')
    await message(page, 'this channel now follows acme/api')
    await write(page, '/ci rules')
    const rules = await answer(page, /subscription/)
    await rules.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove it' }).click()
    await message(page, 'follows no more')
  })

  test('Home shows whose builds are red, and takes mentions away and gives them back', async () => {
    const page = await openPage(demo().url)
    await actAs(page, 'Grace')
    await write(page, '/ci me grace')
    await answer(page, 'means you')
    await push(demo(), 'acme/api', { committer: 'grace', message: 'Drop v1', outcome: 'error', ms: 100 })
    await card(page, 'Failed', 'acme/api #504')
    await goTo(page, 'Buildline')
    const home = page.getByRole('region', { name: 'Buildline' })
    await home
      .getByText(/Failed.*acme\/api/)
      .first()
      .waitFor()
    await home.getByRole('button', { name: /[Mm]entions? off|Turn .*off|Stop mention/ }).click()
    await home.getByRole('button', { name: /[Mm]entions? on|Turn .*on/ }).waitFor()
  })

  test('a guest looks, and may not restart: they are told why', async () => {
    const page = await openPage(demo().url)
    await actAs(page, 'Gus')
    await goTo(page, 'builds')
    await (await card(page, 'Failed', 'acme/api #504')).getByRole('button', { name: 'Restart' }).click()
    await answer(page, /[Gg]uest/)
    expect(await messages(page, 'Restart requested by @Gus').count()).toBe(0)
  })
})
