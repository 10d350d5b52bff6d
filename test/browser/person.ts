import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

// What somebody at the page does, in their own words. Nothing here knows more of the page than can be seen or read aloud.

/** From now on somebody else sits at the page: `Ada`. */
export async function actAs(page: Page, name: string): Promise<void> {
  const people = page.getByLabel('Acting as')
  const value = await people.locator('option', { hasText: name }).getAttribute('value')
  await people.selectOption(value)
}

/** Types where messages to the channel are written, and sends it. */
export async function write(page: Page, text: string): Promise<void> {
  const field = page.getByRole('main').getByRole('textbox', { name: /^Message / })
  await field.fill(text)
  await field.press('Enter')
}

/** The same in the open thread. */
export async function reply(page: Page, text: string): Promise<void> {
  const field = thread(page).getByRole('textbox', { name: /^Reply as / })
  await field.fill(text)
  await field.press('Enter')
}

/** The messages of the channel that say this, the newest last. */
export const messages = (page: Page, text: string | RegExp): Locator =>
  page.getByRole('log', { name: 'Messages' }).getByRole('article').filter({ hasText: text })

/** The newest message of the channel that says this, once it is there. */
export async function message(page: Page, text: string | RegExp): Promise<Locator> {
  const found = messages(page, text).last()
  await found.waitFor()
  return found
}

/** Whether all of it is to be seen in the channel without scrolling. */
export async function isInView(page: Page, one: Locator): Promise<boolean> {
  const list = (await page.getByRole('log', { name: 'Messages' }).boundingBox())!
  const box = (await one.boundingBox())!
  return box.y >= list.y && box.y + box.height <= list.y + list.height
}

/** What only this person sees, once it is there. */
export async function answer(page: Page, text: string | RegExp): Promise<Locator> {
  const found = messages(page, text).filter({ hasText: 'Only visible to you' }).last()
  await found.waitFor()
  return found
}

export const thread = (page: Page): Locator => page.getByRole('complementary', { name: 'Thread' })

/** Opens the thread of a message that has replies. */
export async function openThread(page: Page, of: Locator): Promise<Locator> {
  await of.getByRole('button', { name: /^\d+ repl(?:y|ies)/ }).click()
  const opened = thread(page)
  await opened.waitFor()
  return opened
}

/** Chooses from what can be done with a message: `Restart this build`. */
export async function chooseFor(page: Page, one: Locator, words: string): Promise<void> {
  await one.hover()
  await one.getByRole('button', { name: /^More actions/ }).click()
  await page.getByRole('menuitem', { name: words }).click()
}

/** The form that lies open, once it does. */
export async function modal(page: Page, title: string): Promise<Locator> {
  const form = page.getByRole('dialog', { name: title })
  await form.waitFor()
  return form
}

/**
 * Types a command until its form lies open: Slack gives a bot three seconds for that, and on a busy machine it is late at
 * times. It says so then, and one types it again.
 */
export async function openForm(page: Page, typed: string, title: string): Promise<Locator> {
  const form = page.getByRole('dialog', { name: title })
  const late = page.getByRole('alert').filter({ hasText: 'did not answer in time' })
  const said = messages(page, /Only visible to you/)
  for (;;) {
    const before = await said.count()
    await write(page, typed)
    await form.or(late).or(said.nth(before)).first().waitFor()
    if (await form.isVisible()) return form
    if (await late.isVisible()) await late.getByRole('button', { name: 'Close this line' }).click()
  }
}

/** Leaves every form that lies open. */
export async function leaveForms(page: Page): Promise<void> {
  const open = page.locator('dialog[open]')
  const all = open.getByRole('button', { name: 'Close all' })
  while (await open.isVisible()) {
    if (await all.isVisible()) await all.click()
    else await page.keyboard.press('Escape')
    await open.waitFor({ state: 'hidden' })
  }
}

/** Searches in a menu that asks the bot, and takes what it finds. */
export async function find(form: Locator, label: string, text: string): Promise<void> {
  await form.getByRole('searchbox', { name: label }).fill(text)
  await form.getByRole('list', { name: 'Found' }).getByRole('button', { name: text }).first().click()
}

/** Nothing lies over the page. */
export const noDialog = (page: Page): Promise<void> => page.locator('dialog[open]').waitFor({ state: 'hidden' })

/**
 * What a person who sees nothing can miss: controls without a name, dialogs without a label, as they are read aloud.
 * Empty: nothing.
 */
export async function unnamed(page: Page): Promise<string[]> {
  const read = (await page.locator('body').ariaSnapshot()).split('\n')
  expect(read.filter((line) => /^ *- '?button "/.test(line)).length).toBeGreaterThan(2)
  return read.filter((line) => UNNAMED.test(line))
}

/** `- button`, `- textbox: what was typed`, `- link [disabled]`, where `- button "Send"` has a name. */
const UNNAMED =
  /^ *- '?(?:button|link|textbox|searchbox|combobox|listbox|checkbox|radio|spinbutton|slider|menuitem|dialog)\b(?! ")/

/** Goes to a control as somebody does who has no mouse: by Tab, or by Shift+Tab where it is nearer so. */
export async function reach(one: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  const { keyboard } = one.page()
  let element = await one.elementHandle()
  for (let steps = 0; steps < STOPS_MAX; steps += 1) {
    const isThere = await element.evaluate((it) => (it.isConnected ? it === it.ownerDocument.activeElement : null))
    if (isThere === true) return
    // Finding it by its name takes longer than a key: that is done again only where it was drawn anew.
    if (isThere === null) element = await one.elementHandle()
    else await keyboard.press(key)
  }
  throw new Error(`by ${key} nobody gets to ${one.toString()}`)
}

/** More stops than any page has. */
const STOPS_MAX = 400

/** Nothing hangs over the edge of the window. */
export async function expectToFit(page: Page): Promise<void> {
  const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
  expect(over).toBeLessThanOrEqual(0)
}

/** Goes where the sidebar leads: to a channel by its name, or to `Buildline`. */
export async function goTo(page: Page, name: string): Promise<void> {
  const links = page.getByRole('navigation', { name: 'Channels' }).getByRole('link')
  await links.filter({ hasText: new RegExp(`^\\W*(?:private channel )?${name}\\b`) }).click()
}
