import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { actAs, answer, find, goTo, leaveForms, message, modal, noDialog, openForm, unnamed, write } from './person.ts'
import { describeDemo, openPage } from './stage.ts'

/** Somebody sits down at the page, where no form of an earlier claim lies open any more. */
async function openAs(name: string, url: string): Promise<Page> {
  const page = await openPage(url)
  await actAs(page, name)
  await page.getByRole('textbox', { name: `Message #builds as ${name}` }).waitFor()
  await leaveForms(page)
  return page
}

describeDemo('whoever fills in a form', (demo) => {
  test('subscribes: what is missing and what is wrong stand at their fields, and the channel hears of it', async () => {
    const page = await openAs('Ada', demo().url)
    await goTo(page, 'ops')
    const form = await openForm(page, '/ci subscribe', 'Subscribe')
    expect(await unnamed(page)).toEqual([])
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('Please complete this required field.').waitFor()
    await find(form, 'Project', 'acme/web')
    await form.getByRole('textbox', { name: /^Branches/ }).fill('^release/($')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('not a valid pattern').waitFor()
    await form.getByRole('textbox', { name: /^Branches/ }).fill('release/*')
    await form.getByRole('button', { name: 'Save' }).click()
    await message(page, 'subscribed this channel to acme/web')
    await leaveForms(page)
  })

  test('changes what is followed, out of what is followed now', async () => {
    const page = await openAs('Ada', demo().url)
    await goTo(page, 'ops')
    await write(page, '/ci rules')
    await (await answer(page, /subscription/)).getByRole('button', { name: 'Change' }).click()
    const form = await modal(page, 'Subscribe')
    expect(await form.getByRole('textbox', { name: /^Branches/ }).inputValue()).toBe('release/*')
    await form.getByRole('radio', { name: 'Events that I choose' }).check()
    await form.getByRole('checkbox', { name: 'stopped' }).check()
    await form.getByRole('button', { name: 'Save' }).click()
    await message(page, /subscribed this channel to acme\/web.*stopped/)
    await leaveForms(page)
  })

  test('edits a project: a fault at its field, the difference before it is sent, then what came of it', async () => {
    const page = await openAs('Grace', demo().url)
    const form = await openForm(page, '/ci project edit acme/web', 'Edit a project')
    await form.getByRole('combobox').selectOption({ label: 'Branches and pull requests' })
    const branches = form.getByRole('textbox', { name: /^Branches/ })
    await branches.fill('^release/(')
    await form.getByRole('button', { name: 'Compare' }).click()
    await form.locator('[aria-invalid="true"]').waitFor()
    await branches.fill('main\nrelease/2.0')
    await form.getByRole('button', { name: 'Compare' }).click()
    await form.getByText('this changes').waitFor()
    await form.getByRole('button', { name: 'Send to CI' }).click()
    await message(page, /@Grace changed acme\/web/)
    await form
      .getByText(/Changed/)
      .first()
      .waitFor()
  })

  test('creates a project: every fault at once, a look at it, and it is there', async () => {
    const page = await openAs('Grace', demo().url)
    const form = await openForm(page, '/ci project create', 'Create a project')
    await form.getByRole('textbox', { name: /^Repository/ }).fill('acme shop')
    await form.getByRole('textbox', { name: /^Team ids/ }).fill('seven')
    await form.getByRole('button', { name: 'Preview' }).click()
    await form.locator('[aria-invalid="true"]').nth(1).waitFor()
    await form.getByRole('textbox', { name: /^Repository/ }).fill('https://code.example/acme/shop')
    await form.getByRole('textbox', { name: /^Team ids/ }).fill('')
    await form.getByRole('button', { name: 'Preview' }).click()
    await form.getByRole('button', { name: 'Create', exact: true }).click()
    await message(page, /@Grace created the project acme\/shop/)
    await leaveForms(page)
  })

  test('resets a key: another name than the project’s is refused at its field', async () => {
    const page = await openAs('Grace', demo().url)
    const form = await openForm(page, '/ci project reset-aes-key acme/ios', 'Reset an AES key')
    const name = form.getByRole('textbox', { name: /^Type the project/ })
    await name.fill('acme/web')
    await form.getByRole('button', { name: 'Reset', exact: true }).click()
    await form.getByText("this is not the project's name").waitFor()
    await name.fill('acme/ios')
    await form.getByRole('button', { name: 'Reset', exact: true }).click()
    await message(page, /@Grace reset the AES key of acme\/ios/)
    await leaveForms(page)
  })

  test('looks after a red branch, and hands it over to somebody who is found in the list', async () => {
    const page = await openAs('Ada', demo().url)
    const commit = { branch: 'checkout', message: 'Take cards only', committer: 'Lin' }
    await demo().ci('projects/acme%2Fapi/push', { ...commit, outcome: 'error', ms: 100 })
    const card = await message(page, 'Take cards only')
    await card.getByRole('button', { name: "I'm on it" }).click()
    const form = await modal(page, 'Red branch')
    expect(await unnamed(page)).toEqual([])
    const wish = form.getByRole('combobox', { name: /^What do you want to do/ })
    await wish.selectOption({ label: "I'm on it for 4 hours" })
    await form.getByRole('button', { name: 'Save' }).click()
    await card.getByText(/Ada is on it until/).waitFor()
    await actAs(page, 'Lin')
    await card.getByRole('button', { name: 'Change…' }).click()
    await wish.selectOption({ label: 'Hand it over' })
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('Choose a person.').waitFor()
    await form.getByRole('combobox', { name: /^To whom/ }).selectOption({ label: 'Grace' })
    await form.getByRole('button', { name: 'Save' }).click()
    await card.getByText(/Grace is on it until/).waitFor()
  })

  test('needs no mouse: Escape closes a form, and the focus is where it was', async () => {
    const page = await openAs('Ada', demo().url)
    await openForm(page, '/ci subscribe', 'Subscribe')
    await page.keyboard.press('Escape')
    await noDialog(page)
    await page.locator('#composer:focus').waitFor()
  })
})
