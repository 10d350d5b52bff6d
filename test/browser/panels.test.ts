import { describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { describeDemo, openPage, PHONE } from './stage.ts'
import { expectToFit, message, messages, noDialog, openThread, unnamed } from './person.ts'

/** The page with a panel beside the conversation. */
async function openPanel(url: string, name: string, heading: string) {
  const page = await openPage(url)
  await page.getByRole('group', { name: 'Panels' }).getByRole('button', { name }).click()
  const panel = page.getByRole('region', { name, exact: true })
  await panel.getByRole('heading', { name: heading }).waitFor()
  return { page, panel }
}

const openCi = (url: string) => openPanel(url, 'CI', 'Push a commit')
const openBreaking = (url: string) => openPanel(url, 'Break it', 'The bot')

const build = (page: Page, name: string, state: string) =>
  page.getByRole('listitem', { name: `${name}, ${state}`, exact: true })

describeDemo('the panel', (demo) => {
  describe('of CI', () => {
    it('pushes, shows how far a build is, and ends it as one likes', async () => {
      const { page, panel } = await openCi(demo().url)
      await panel.getByLabel('Project').selectOption('acme/api')
      await panel.getByLabel('Branch', { exact: true }).fill('release/2.0')
      await panel.getByLabel('Committer').fill('Lin')
      await panel.getByLabel('The build').selectOption('waits for an approval')
      await panel.getByRole('button', { name: 'Push', exact: true }).click()
      await build(page, 'acme/api #501', 'waiting').getByRole('button', { name: 'Approve' }).click()
      await build(page, 'acme/api #501', 'running').getByRole('progressbar').waitFor()
      expect([await unnamed(page), await expectToFit(page)]).toEqual([[], undefined])
      await panel.getByRole('button', { name: 'Machine error acme/api #501' }).click()
      await message(page, /CI machine error acme\/api #501 on release\/2\.0/)
      await build(page, 'acme/api #501', 'machine error').getByRole('button', { name: 'Restart' }).click()
      await message(page, /Fixed acme\/api #501/)
    })

    it('holds deliveries back, shows one as it was sent, and sends the chosen ones in their order', async () => {
      const { page, panel } = await openCi(demo().url)
      const holding = panel.getByLabel('Hold new deliveries back')
      await holding.check()
      const { id } = (await demo().ci('projects/acme%2Fweb/push', { outcome: 'error', ms: 0 })) as { id: string }
      const rows = panel.getByRole('listitem').filter({ hasText: `acme/web #${id}` })
      const [started, failed] = [rows.filter({ hasText: 'initiated' }), rows.filter({ hasText: /\berror\b/ })]
      await failed.getByText('held back').waitFor()
      await started.getByRole('button', { name: 'Look' }).click()
      const payload = page.getByRole('dialog', { name: /^Delivery \d+$/ })
      await payload.getByText(`"build_id":${id},`).waitFor()
      await payload.getByText('none yet').waitFor()
      await page.keyboard.press('Escape')
      await noDialog(page)
      await failed.getByRole('checkbox').check()
      await started.getByRole('checkbox').check()
      await panel.getByRole('button', { name: 'Send the 2 chosen, in this order' }).click()
      await message(page, new RegExp(`Failed acme/web #${id}`))
      await started.getByText('202').waitFor()
      await holding.uncheck()
      expect(await panel.getByRole('button', { name: /^Send the/ }).count()).toBe(0)
    })

    it('edits the rules, and says what is wrong with them', async () => {
      const { page, panel } = await openCi(demo().url)
      await panel.getByLabel('Rules of', { exact: true }).selectOption('acme/ios')
      const events = panel.getByRole('group', { name: 'Events of rule 2' })
      for (const event of ['started', 'failed', 'success', 'recovered']) await events.getByLabel(event).uncheck()
      await panel.getByRole('button', { name: 'Save the rules' }).click()
      await page.getByRole('alert').filter({ hasText: 'Rule 2 needs at least one event' }).waitFor()
      await events.getByLabel('failed').check()
      await panel.getByRole('button', { name: 'Save the rules' }).click()
      await page.getByRole('alert').filter({ hasNotText: 'at least one' }).waitFor({ state: 'attached' })
      await panel
        .getByRole('status')
        .filter({ hasText: /Buildline has not read these yet.*by about \d\d:\d\d/ })
        .waitFor()
      await page.reload()
      await panel.getByText('has not read these yet').waitFor({ state: 'hidden' })
      await panel.getByLabel('Rules of', { exact: true }).selectOption('acme/ios')
      await panel.getByText('has not read these yet').waitFor()
      expect(await events.getByRole('checkbox', { checked: true }).count()).toBe(1)
    })
  })

  describe('that breaks things', () => {
    it('takes Slack away, and when it is back nothing is lost or doubled', async () => {
      const { page, panel } = await openBreaking(demo().url)
      expect([await unnamed(page), await expectToFit(page)]).toEqual([[], undefined])
      const slack = panel.getByRole('group', { name: 'Slack …' })
      await slack.getByLabel('is down').check()
      const { id } = (await demo().ci('projects/acme%2Fweb/push', { outcome: 'error', ms: 0 })) as { id: string }
      await page.getByText('on its way 1').waitFor()
      await page.getByText(/^lag \d+\.\d s$/).waitFor()
      expect(await messages(page, `acme/web #${id}`).count()).toBe(0)
      await slack.getByLabel('works').check()
      await message(page, new RegExp(`(?:Failed|Still failing) acme/web #${id}`))
      await page.getByText('on its way 0').waitFor()
      await page.getByText(/^lag \(median\) \d+\.\d s$/).waitFor()
      expect(await page.getByText('lost 0 · doubled 0', { exact: true }).count()).toBe(1)
    })

    it('is as wide as a phone, even over an open thread', async () => {
      const page = await openPage(demo().url, PHONE)
      await demo().ci('projects/acme%2Fapi/push', { outcome: 'error', ms: 2_000 })
      await openThread(page, await message(page, /Failed acme\/api.*1 reply/s))
      await page.getByRole('button', { name: 'Break it' }).click()
      const panel = page.getByRole('region', { name: 'Break it', exact: true })
      await panel.waitFor()
      expect((await panel.boundingBox())?.width).toBe(PHONE.viewport?.width)
    })

    it('keeps what is broken over a reload, for everybody', async () => {
      const { page, panel } = await openBreaking(demo().url)
      await panel.getByLabel("has forgotten the bot's key").check()
      await page.reload()
      expect(await panel.getByLabel("has forgotten the bot's key").isChecked()).toBe(true)
      await panel.getByRole('group', { name: 'CI …' }).getByLabel('works').check()
    })

    it('starts over once that is confirmed', async () => {
      const { page, panel } = await openBreaking(demo().url)
      await demo().ci('projects/acme%2Fweb/push', { outcome: 'none' })
      await message(page, /Running acme\/web/)
      await panel.getByRole('button', { name: 'Reset', exact: true }).click()
      await page.getByRole('dialog', { name: 'Start over?' }).getByRole('button', { name: 'Keep it' }).click()
      await panel.getByRole('button', { name: 'Reset', exact: true }).click()
      await page.getByRole('dialog', { name: 'Start over?' }).getByRole('button', { name: 'Reset' }).click()
      await messages(page, 'acme/web').first().waitFor({ state: 'detached' })
      await page.getByText('bot running').waitFor()
    })
  })
})
