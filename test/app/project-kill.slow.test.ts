import { expect, it } from 'vitest'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { rowsOf, until } from '../support/app.ts'
import { openScene, startBot } from '../support/world.ts'
import { compareBranches, projectIn, putsTo, submit } from './project-forms.ts'

const { grace } = PEOPLE

it('a process that is killed during a write leaves a record, which the next one completes by a look-up, and tells the requester and the channel', async () => {
  const scene = await openScene()
  const bot = await startBot(scene)
  await until('the projects are known', () => rowsOf(scene.folder, 'select 1 from project').length >= 3)
  await compareBranches(scene, 'main')
  scene.ci.addFault({ kind: 'slow', ms: 1_500, where: 'v2', method: 'PUT', times: 1 })
  await submit(scene)
  await until('it is recorded', () => requests().length === 1)
  await until('CI has the write', () => scene.ci.faults().length === 0)
  bot.kill('SIGKILL')
  await bot.exit
  expect(requests()).toEqual([{ action: 'edit-project', state: 'calling', code: null }])
  expect(scene.slack.messages(CHANNELS.builds)).toEqual([])
  await until('CI has done it', () => projectIn(scene).branches.join() === 'main')
  await startBot(scene)
  await until('it is ended', () => requests()[0]?.['state'] === 'confirmed')
  expect(projectIn(scene)).toMatchObject({ branches: ['main'] })
  expect(putsTo(scene)).toHaveLength(1)
  await until('Grace is told', () =>
    directTo(grace).some((text) => text.includes('*Changing* the project acme/web is recorded')),
  )
  expect(directTo(grace).filter((text) => text.includes('Interrupted'))).toHaveLength(1)
  await until('Grace is told the result', () =>
    directTo(grace).some((text) => text.includes(`CI has changed acme/web, as you asked in <#${CHANNELS.builds}>`)),
  )
  await until('the channel is told', () => scene.slack.messages(CHANNELS.builds).length > 0)
  expect(scene.slack.messages(CHANNELS.builds).map(({ text }) => text)).toEqual([
    `:pencil2: <@${grace}> changed *acme/web*: branches.`,
  ])

  function requests() {
    return rowsOf(scene.folder, 'select action, state, code from request').map((row) => ({ ...row }))
  }
  function directTo(user: string): string[] {
    return [...scene.slack.workspace.channels.values()]
      .filter(({ kind, members }) => kind === 'im' && members.has(user))
      .flatMap(({ messages }) => [...messages.values()].map(({ text }) => text))
  }
}, 90_000)
