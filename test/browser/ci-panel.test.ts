import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { describeDemo, openPage } from './stage.ts'
import { expectToFit, message, noDialog, unnamed } from './person.ts'

/** The page with CI beside the conversation. */
async function openCi(url: string) {
  const page = await openPage(url)
  await page.getByRole('group', { name: 'Panels' }).getByRole('button', { name: 'CI' }).click()
  const panel = page.getByRole('region', { name: 'CI', exact: true })
  await panel.getByRole('heading', { name: 'Push a commit' }).waitFor()
  return { page, panel }
}

const build = (page: Page, name: string, state: string) =>
  page.getByRole('listitem', { name: `${name}, ${state}`, exact: true })

describeDemo('the panel of CI', (demo) => {
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
