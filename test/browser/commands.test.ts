import { expect, test } from 'vitest'
import { describedFeatures } from '../../src/features/features.ts'
import { describeDemo, openPage } from './stage.ts'
import { actAs, answer, goTo, message, messages, write } from './person.ts'

const { commands: COMMANDS } = describedFeatures()

/** What is typed, and what the answer has to say, as Grace, who may ask everything. Other commands: their first example. */
const ASKED: Readonly<Record<string, readonly [typed: string, said: RegExp]>> = {
  list: ['list', /acme\/web/],
  status: ['status acme/web', /Failed.*acme\/web/s],
  stop: ['stop', /Nothing is running/],
  restart: ['restart acme/web@main', /Restart requested/],
  me: ['me grace', /grace.*is yours/s],
  doctor: ['doctor', /Slack token/],
  rules: ['rules', /all projects/],
  subscribe: ['subscribe acme/api failed main', /Subscribed.*acme\/api/s],
  unsubscribe: ['unsubscribe acme/api', /Unsubscribed/],
  project: ['project acme/web', /Branches/],
  help: ['help', /\/ci subscribe/],
}

describeDemo('whoever types', (demo) => {
  test('each command of /ci help is answered, before their eyes alone', async () => {
    const page = await openPage(demo().url)
    const push = { branch: 'main', message: 'Fix login', committer: 'Ada', outcome: 'error', ms: 100 }
    await demo().ci('projects/acme%2Fweb/push', push)
    await message(page, /Failed acme\/web #501/)
    await actAs(page, 'Grace')
    const others = COMMANDS.filter(({ name }) => !(name in ASKED))
    const asked = [...Object.values(ASKED), ...others.map(({ examples }) => [examples[0]!.slice(4), /./] as const)]
    for (const [typed, said] of asked) {
      await write(page, `/ci ${typed}`)
      await answer(page, said)
    }
    await actAs(page, 'Lin')
    await messages(page, 'Only visible to you').first().waitFor({ state: 'hidden' })
  })

  test('/ci is offered each command, with what may follow it, and Tab takes what is offered', async () => {
    const page = await openPage(demo().url)
    const field = page.getByRole('main').getByRole('textbox', { name: /^Message / })
    await field.pressSequentially('/ci ')
    const offers = page.getByRole('listbox', { name: 'Suggestions' })
    for (const { name } of COMMANDS)
      await offers
        .getByRole('option', { name: `/ci ${name}` })
        .first()
        .waitFor()
    await field.pressSequentially('hel')
    await field.press('Tab')
    expect((await field.inputValue()).trim()).toBe('/ci help')
    await field.press('Enter')
    await answer(page, /\/ci subscribe/)
  })

  test('what is no command gets the nearest one, and nothing is done', async () => {
    const page = await openPage(demo().url)
    await goTo(page, 'ops')
    await write(page, '/ci sotp')
    await answer(page, /stop/)
    await write(page, '/ci doctor')
    await answer(page, /admin/)
  })
})
