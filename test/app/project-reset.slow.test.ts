import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'
import { databasePath, rowsOf, until } from '../support/app.ts'
import { answersTo, type, untilAnswered, type World } from '../support/world.ts'
import { grace, lin, openProjects, projectIn, saidBy, submit, topOf, untilModal } from './project-forms.ts'

const { builds: BUILDS } = CHANNELS

const keyIn = (world: World): string => String(projectIn(world, 'acme/ios').aes_key)
const resetsAt = ({ ci }: World) => ci.calls().filter(({ path }) => path.endsWith('/reset_aes_key'))

async function openReset(world: World): Promise<void> {
  await type(world, grace, '/ci project reset-aes-key acme/ios')
  await untilModal(world, ['project_reset', 'gets a new AES key'])
}

const confirm = (world: World) => submit(world, { 'reset:name': 'acme/ios' })

/** Everything that is visible to everybody or stored. */
const lasting = (world: World): string =>
  [
    JSON.stringify(world.slack.messages(BUILDS)),
    world.app.lines.join('\n'),
    readFileSync(databasePath(world.folder)).toString('latin1'),
    readFileSync(`${databasePath(world.folder)}-wal`).toString('latin1'),
  ].join('\n')

describe('resetting an AES key', () => {
  it.each(['bare', 'wrapped', 'aes_key', 'empty'] as const)(
    '(%s) shows the new key once, to the requester, and it is in no log, database or channel',
    async (resetAesKeyForm) => {
      const world = await openProjects({ ci: { switches: { resetAesKeyForm } } })
      const old = keyIn(world)
      await openReset(world)
      await confirm(world)
      const view = await untilModal(world, ['AES key reset', 'only now'])
      expect(keyIn(world)).not.toBe(old)
      expect(saidBy(view)).toContain(keyIn(world))
      await until('the channel is told', () => world.slack.messages(BUILDS).length === 1)
      expect(world.slack.messages(BUILDS).map(({ text }) => text)).toEqual([
        `:key: <@${grace}> reset the AES key of *acme/ios*.`,
      ])
      expect(lasting(world).includes(keyIn(world))).toBe(false)
      expect(lasting(world).includes(old)).toBe(false)
      expect(rowsOf(world.folder, 'select action, state from request').map((row) => ({ ...row }))).toEqual([
        { action: 'reset-aes-key', state: 'confirmed' },
      ])
    },
  )

  it("asks for the project's name first", async () => {
    const world = await openProjects()
    await openReset(world)
    const answer = await submit(world, { 'reset:name': 'acme/web' })
    expect(answer).toMatchObject({ errors: { 'reset:name': expect.stringContaining("not the project's name") } })
    expect(resetsAt(world)).toEqual([])
  })

  it('of a project that is not Pro says that there is none', async () => {
    const world = await openProjects()
    await type(world, grace, '/ci project reset-aes-key acme/web')
    await untilModal(world, ['No AES key', 'is not a Pro project'])
    expect(resetsAt(world)).toEqual([])
  })

  it('is for admins only', async () => {
    const world = await openProjects()
    await type(world, lin, '/ci project reset-aes-key acme/ios')
    await untilModal(world, ['Not allowed'], lin)
    expect(resetsAt(world)).toEqual([])
  })

  it('whose answer is lost is looked up, and the key is shown', async () => {
    const world = await openProjects()
    await openReset(world)
    world.ci.addFault({ kind: 'lost-answer', where: 'v2', method: 'POST', times: 1 })
    await confirm(world)
    const view = await untilModal(world, ['AES key reset'])
    expect(saidBy(view)).toContain(keyIn(world))
    expect(resetsAt(world)).toHaveLength(1)
  })

  it('shows the key to the requester in the channel if the form was closed meanwhile', async () => {
    const world = await openProjects()
    await openReset(world)
    world.ci.addFault({ kind: 'slow', ms: 1_000, where: 'v2', method: 'POST', times: 1 })
    await confirm(world)
    await world.slack.people.closeView({ user: grace })
    expect(topOf(world)).toBeUndefined()
    const { text } = await untilAnswered(world, grace, ['AES key reset', 'only now'])
    expect(text).toContain(keyIn(world))
    expect(answersTo(world, lin)).toEqual([])
    expect(lasting(world).includes(keyIn(world))).toBe(false)
  })

  it('by a mention says that only commands open forms', async () => {
    const world = await openProjects()
    await world.slack.people.mentionBot({ user: grace, channel: BUILDS, text: 'project edit acme/web' })
    await untilAnswered(world, grace, ['The form could not be opened', 'Type it as a command'])
  })
})
