import { expect, it } from 'vitest'
import { describeDemo, openPage, PHONE } from './stage.ts'
import { expectToFit, message, messages, openThread, unnamed } from './person.ts'

async function openBreaking(url: string) {
  const page = await openPage(url)
  await page.getByRole('group', { name: 'Panels' }).getByRole('button', { name: 'Break it' }).click()
  const panel = page.getByRole('region', { name: 'Break it', exact: true })
  await panel.getByRole('heading', { name: 'The bot' }).waitFor()
  return { page, panel }
}

describeDemo('the panel that breaks things', (demo) => {
  it('takes Slack away, and when it is back nothing is lost or doubled', async () => {
    const { page, panel } = await openBreaking(demo().url)
    expect([await unnamed(page), await expectToFit(page)]).toEqual([[], undefined])
    const slack = panel.getByRole('group', { name: 'Slack …' })
    await slack.getByLabel('is down').check()
    await demo().ci('projects/acme%2Fweb/push', { outcome: 'error', ms: 0 })
    await page.getByText('on its way 1').waitFor()
    await page.getByText(/^lag \d+\.\d s$/).waitFor()
    expect(await messages(page, 'acme/web #501').count()).toBe(0)
    await slack.getByLabel('works').check()
    await message(page, /Failed acme\/web #501/)
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
