import { describe, expect, it } from 'vitest'
import { ACTION_IDS } from '../../../src/slack/messages/ids.ts'
import { CHANNELS, PEOPLE } from '../../../packages/sandbox-slack/src/workspace.ts'
import { delivery, send, until } from '../../support/app.ts'
import {
  openScene,
  openWorld,
  press,
  pushRed,
  reload,
  startBot,
  type,
  untilAnswered,
  untilCard,
  untilKnown,
} from '../../support/world.ts'
import { type World, type WorldOptions } from '../../support/world.ts'

const { builds: BUILDS } = CHANNELS
const { ada } = PEOPLE
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

async function openRed(options: WorldOptions = {}): Promise<World> {
  const world = await openWorld(options)
  await pushRed(world)
  await untilCard(world, ['Failed'], ACTION_IDS.restart)
  return world
}

const ODD_BRANCHES = ['fix/a&b', 'release 1?x=%41#top', 'a"b<c>|d', 'naïve-日本', 'a_*b*~c`d']

const uuidOf = ({ ci }: World): string => ci.state().projects.find(({ name }) => name === 'acme/web')!.uuid

const filesIn = ({ slack }: Pick<World, 'slack'>) => [...slack.workspace.files.values()]

describe('/ci badge', () => {
  it('says the state in words, with its Markdown to copy', async () => {
    const world = await openRed()
    await type(world, ada, '/ci badge acme/web main')
    const { text } = await untilAnswered(world, ada, ['failing', 'acme/web', '`main`'])
    const url = `${world.ci.address().siteUrl}/projects/${uuidOf(world)}/status?branch=main`
    expect(text).toContain(`![acme/web main build status](&lt;${url}&gt;)`)
  })

  it('posts the picture only when its button is pressed, as a PNG with an alternative text', async () => {
    const world = await openRed()
    await type(world, ada, '/ci-badge acme/web main')
    await untilAnswered(world, ada, ['failing', 'Markdown'])
    expect(filesIn(world)).toEqual([])
    const { message } = world.slack.ephemerals(BUILDS, ada).at(-1)!
    await world.slack.people.click({ user: ada, channel: BUILDS, ts: message.ts, actionId: 'choose_1' })
    await until('the picture is there', () => filesIn(world).some(({ completedAtMs }) => completedAtMs !== undefined))
    const [file] = filesIn(world)
    expect(file).toMatchObject({ name: 'badge.png', altText: expect.stringContaining('failing') })
    expect(file?.bytes?.subarray(0, PNG.length)).toEqual(PNG)
    await until('it is shown', () => world.slack.transcript(BUILDS).includes('badge.png'))
  })

  it('has its picture in the bundle too, where a separate process draws it', async () => {
    const scene = await openScene()
    await startBot(scene)
    await pushRed(scene)
    await untilCard(scene, ['Failed'], ACTION_IDS.restart)
    await type(scene, ada, '/ci-badge acme/web main')
    const answer = await untilAnswered(scene, ada, ['failing', 'Markdown'])
    await press(scene, ada, answer, 'choose_1')
    await until('the picture is there', () => filesIn(scene).some(({ completedAtMs }) => completedAtMs !== undefined))
    expect(filesIn(scene)[0]?.bytes?.subarray(0, PNG.length)).toEqual(PNG)
  })

  it('for any branch gives Markdown that leads to exactly that branch', async () => {
    const world = await openWorld()
    for (const branch of ODD_BRANCHES) {
      await pushRed(world, 'acme/web', branch)
      await untilKnown(world, ODD_BRANCHES.indexOf(branch) + 1)
      const text = `badge acme/web ${escaped(branch.includes(' ') ? `'${branch}'` : branch)}`
      await world.slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text })
      const answer = await untilAnswered(world, ada, ['failing', 'Markdown'])
      const url = unescaped(/\(&lt;([^ ]+)&gt;\)/.exec(answer.text)?.[1] ?? '')
      expect(new URL(url).searchParams.get('branch')).toBe(branch)
      reload(world)
    }
  })

  it('distinguishes an unknown project, an unknown branch, and a project unknown to the site', async () => {
    const world = await openRed()
    await type(world, ada, '/ci badge acme/wbe')
    await untilAnswered(world, ada, ['No project', 'Did you mean acme/web'])
    await type(world, ada, '/ci badge acme/web never-built')
    await untilAnswered(world, ada, ['unknown', "CI's site has no build of this branch"])
    const gone = { project_id: 77, project_name: 'acme/gone', project_full_name: 'acme/gone', build_id: 900 }
    await send(world.app.url, delivery({ ...gone, project_uuid: '0a0a0a0a-1111-2222-3333-0b0b0b0b0b0b' }))
    await type(world, ada, '/ci badge acme/gone')
    await untilAnswered(world, ada, ['acme/gone', "CI's site does not know this project"])
    world.ci.setSwitches({ badgeUnknownProject: 200 })
    await type(world, ada, '/ci badge acme/gone main')
    await untilAnswered(world, ada, ['project unknown', "CI's site does not know this project"])
  })

  it('while the site is down says so, and still gives the Markdown to copy', async () => {
    const world = await openRed()
    world.ci.addFault({ kind: 'status', statusCode: 503, where: 'site' })
    await type(world, ada, '/ci badge acme/web main')
    await untilAnswered(world, ada, ['could not be fetched', 'CI had an internal error', uuidOf(world), 'Markdown'])
    expect(filesIn(world)).toEqual([])
  })

  it('without CI_SITE_URL or a project says what is missing', async () => {
    const world = await openRed({ settings: { CI_SITE_URL: undefined } })
    await type(world, ada, '/ci badge acme/web')
    await untilAnswered(world, ada, ['No badge', 'Ask the person who runs Buildline to set CI_SITE_URL'])
    await type(world, ada, '/ci badge')
    await untilAnswered(world, ada, ['Incomplete', 'this command needs a project'])
  })
})

/** Slack escapes three characters of typed text. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
