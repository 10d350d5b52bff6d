import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { ACTION_IDS, CHOICE_ACTION_IDS, PAGE_ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { botSettings } from '../../packages/sandbox-ci/src/settings.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import type { Settings } from '../support/app.ts'
import { databasePath } from '../support/app.ts'
import { answersTo, buttonsOf, enterWorld, openScene, openWorld, press, pushRed, type } from '../support/world.ts'
import { reload, untilAnswered, untilCard, untilKnown, writesTo, type Scene, type World } from '../support/world.ts'

const { builds: BUILDS } = CHANNELS
const { ada } = PEOPLE

/** Settings without either interface of CI. */
const NO_CI: Settings = {
  CI_BASE_URL: undefined,
  CI_ORGANIZATION_UUID: undefined,
  CI_AUTHORIZATION: undefined,
  CI_LEGACY_BASE_URL: undefined,
  CI_API_KEY: undefined,
}

/** Adds this many projects, `acme/p01` and so on. Every third one is Pro. */
async function addProjects({ ci }: Scene, count: number): Promise<void> {
  const { baseUrl, organizationUuid, authorization } = ci.address()
  for (let n = 1; n <= count; n++) {
    const name = `acme/p${String(n).padStart(2, '0')}`
    const response = await fetch(`${baseUrl}/organizations/${organizationUuid}/projects`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({
        repository_url: `https://git.example.com/${name}.git`,
        type: n % 3 === 0 ? 'pro' : 'basic',
        team_ids: [7],
      }),
    })
    if (!response.ok) throw new Error(`${name} was not created: ${response.status}`)
  }
}

async function openWithMany(): Promise<World> {
  const scene = await openScene()
  await addProjects(scene, 12)
  return enterWorld(scene)
}

/** A failed build on `main`, and a running one on `fix/login`. */
async function openWithBuilds(): Promise<World> {
  const world = await openWorld()
  await pushRed(world)
  await untilCard(world, ['Failed', '#501'], ACTION_IDS.restart)
  world.ci.push('acme/web', { outcome: 'none', branch: 'fix/login' })
  await untilKnown(world, 2)
  return world
}

/** Makes the last read of the list an hour old. */
function ageList({ folder }: Scene): void {
  const db = new DatabaseSync(databasePath(folder))
  db.exec(`update job set last_done_at = last_done_at - 3600000 where name = 'refresh-projects'`)
  db.exec('update project set read_at = read_at - 3600000')
  db.close()
}

const names = (text: string): string[] => [...text.matchAll(/• (\S+)/g)].map(([, name]) => name!)

describe('/ci list', () => {
  it('shows ten projects on a page, and Next and Previous change the page in place', async () => {
    const world = await openWithMany()
    await type(world, ada, '/ci list')
    const first = await untilAnswered(world, ada, ['15 projects', 'page 1 of 2'])
    expect(buttonsOf(world.slack.ephemerals(BUILDS, ada))).toEqual([PAGE_ACTION_IDS.next])
    await press(world, ada, first, PAGE_ACTION_IDS.next)
    const second = await untilAnswered(world, ada, ['15 projects', 'page 2 of 2'])
    expect(buttonsOf(world.slack.ephemerals(BUILDS, ada))).toEqual([PAGE_ACTION_IDS.previous])
    expect([names(first.text).length, new Set([...names(first.text), ...names(second.text)]).size]).toEqual([10, 15])
    // The button has the whole query; nothing is kept in memory.
    await world.restartApp()
    await press(world, ada, second, PAGE_ACTION_IDS.previous)
    const back = await untilAnswered(world, ada, ['page 1 of 2'])
    expect([back.text, answersTo(world, ada).length]).toEqual([first.text, 1])
  })

  it('finds projects by text and by type, separately and together', async () => {
    const world = await openWithMany()
    const listed = async (line: string, ...words: string[]) => {
      await type(world, ada, line)
      return names((await untilAnswered(world, ada, words)).text)
    }
    expect(await listed('/ci list p0 pro', '`p0`', 'Pro only')).toEqual(['acme/p03', 'acme/p06', 'acme/p09'])
    expect(await listed('/ci list pro', '5 projects', 'Pro only')).toHaveLength(5)
    expect(await listed('/ci list basic 2', '10 projects', 'Basic only')).toHaveLength(10)
    expect(await listed('/ci list nowhere', 'No projects')).toEqual([])
  })

  it('shows the last known state of each', async () => {
    const world = await openWithBuilds()
    await type(world, ada, '/ci-list web')
    // What is red matters more than what runs.
    const { text } = await untilAnswered(world, ada, ['1 project', 'acme/web · Basic', 'Failed'])
    expect(text).toContain('#501')
  })

  it('while CI is slow says within three seconds that the list follows, and then shows it', async () => {
    const scene = await openScene()
    scene.ci.addFault({ kind: 'slow', ms: 3_500, where: 'v2', times: 1 })
    const world = await enterWorld(scene)
    const acknowledged = await type(world, ada, '/ci list')
    expect(acknowledged).toMatchObject({ kind: 'answered', status: 200 })
    const soon = await untilAnswered(world, ada, ['Still working on', '`list`'])
    const list = await untilAnswered(world, ada, ['3 projects', 'acme/ios · Pro'])
    expect(Number(list.ts)).toBeGreaterThan(Number(soon.ts))
  })

  it('while CI is down shows the last list, with its age and the reason', async () => {
    const scene = await openScene()
    const world = await enterWorld(scene)
    await type(world, ada, '/ci list')
    await untilAnswered(world, ada, ['3 projects'])
    ageList(scene)
    world.ci.addFault({ kind: 'status', statusCode: 401 })
    await type(world, ada, '/ci list')
    await untilAnswered(world, ada, ['3 projects', 'This list is from', "CI does not accept Buildline's credentials"])
  })

  it('while CI is down without an earlier list says so', async () => {
    const scene = await openScene()
    scene.ci.addFault({ kind: 'status', statusCode: 401 })
    const world = await enterWorld(scene)
    await type(world, ada, '/ci list')
    await untilAnswered(world, ada, ['No list', "CI does not accept Buildline's credentials", 'Next:', 'Reference:'])
  })

  it('without CI says what to set, and with the legacy interface only, that it lists Basic projects only', async () => {
    const without = await openWorld({ settings: NO_CI })
    await type(without, ada, '/ci list')
    await untilAnswered(without, ada, ['No list', 'set CI_BASE_URL or CI_LEGACY_BASE_URL'])
    const scene = await openScene()
    const { CI_LEGACY_BASE_URL, CI_API_KEY } = botSettings(scene.ci)
    const legacy = await enterWorld({
      ...scene,
      settings: { ...scene.settings, ...NO_CI, CI_LEGACY_BASE_URL, CI_API_KEY },
    })
    await type(legacy, ada, '/ci list')
    await untilAnswered(legacy, ada, ['2 projects', 'which lists Basic projects only'])
  })
})

describe('/ci status', () => {
  it('shows the last build of each branch, of one branch, or of what the channel follows', async () => {
    const world = await openWithBuilds()
    await type(world, ada, '/ci status acme/web')
    await untilAnswered(world, ada, ['1 of 2 branches is red', '#501', '#502'])
    reload(world)
    await type(world, ada, '/ci status web fix/login')
    const one = await untilAnswered(world, ada, ['Running', '#502', '`fix/login`'])
    expect(one.text).not.toContain('#501')
    // The newer build of another branch must not hide that main is red.
    await type(world, ada, '/ci status')
    await untilAnswered(world, ada, ["in this channel's projects", '#501', '#502'])
    await type(world, ada, '/ci')
    await untilAnswered(world, ada, ['*1 red, 1 running*', '#501', '#502'])
  })

  it('for one branch shows the last builds', async () => {
    const world = await openWithBuilds()
    await pushRed(world)
    await type(world, ada, '/ci status acme/web main')
    await untilAnswered(world, ada, ['The last 2 builds', '#503', '#501'])
  })

  it('with an unknown branch or project suggests the nearest name, and does not guess', async () => {
    const world = await openWithBuilds()
    await type(world, ada, '/ci status acme/web fix/lgoin')
    await untilAnswered(world, ada, ['No build yet', 'Did you mean `fix/login`'])
    await type(world, ada, '/ci status acme/wbe')
    const asked = await untilAnswered(world, ada, ['No project', 'Did you mean acme/web'])
    await press(world, ada, asked, CHOICE_ACTION_IDS[0])
    await untilAnswered(world, ada, ['1 of 2 branches is red'])
  })

  it('with a name of several projects asks which one, and a button answers', async () => {
    const world = await openWithBuilds()
    await type(world, ada, '/ci status acme')
    const asked = await untilAnswered(world, ada, ['3 projects', 'Choose one'])
    await press(world, ada, asked, CHOICE_ACTION_IDS[1])
    await untilAnswered(world, ada, ['acme/'])
    expect(answersTo(world, ada)).toHaveLength(1)
  })
})

describe('/ci stop and /ci restart', () => {
  it('without a target, stop shows what runs here, each with its button, and stops nothing', async () => {
    const world = await openWithBuilds()
    await type(world, ada, '/ci stop')
    const shown = await untilAnswered(world, ada, ['1 build runs', '#502'])
    expect(writesTo(world.ci, 'stop')).toEqual([])
    await press(world, ada, shown, ACTION_IDS.stop)
    await untilAnswered(world, ada, ['Stop requested', '#502'])
    expect(writesTo(world.ci, 'stop')).toHaveLength(1)
  })

  it('stop accepts a project and branch, a number or a linked address, and so does its alias', async () => {
    const world = await openWithBuilds()
    for (const branch of ['b503', 'b504', 'b505']) world.ci.push('acme/web', { outcome: 'none', branch })
    await untilKnown(world, 5)
    const { siteUrl } = world.ci.address()
    const lines = ['/ci stop acme/web@fix/login', '/ci stop #503', `/ci stop <${siteUrl}/projects/11/builds/504>`]
    for (const [n, line] of [...lines, '/ci-stop web b505'].entries()) {
      await type(world, ada, line)
      await untilAnswered(world, ada, ['Stop requested', `#${502 + n}`])
      expect(writesTo(world.ci, 'stop')).toHaveLength(n + 1)
    }
  })

  it('restart means the last build of a branch', async () => {
    const world = await openWithBuilds()
    await type(world, ada, '/ci-restart acme/web main')
    await untilAnswered(world, ada, ['Restart requested', '#501'])
    expect(writesTo(world.ci, 'restart')).toMatchObject([{ path: '/api/v1/builds/501/restart.json' }])
  })
})

describe('/ci', () => {
  it('accepts smart quotes, names that Slack linked, any case and extra blanks', async () => {
    const world = await openWithBuilds()
    const texts = ['status “acme/web” ‘main’', 'status acme/<http://web|web> main', ' STATUS   acme/WEB   main ']
    for (const text of texts) {
      await world.slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text })
      await untilAnswered(world, ada, ['Failed', 'acme/web', '#501', '`main`'])
      reload(world)
    }
  })

  it('does nothing for an unknown command or an extra word, but answers', async () => {
    const world = await openWithBuilds()
    await type(world, ada, '/ci stpo acme/web@fix/login')
    await untilAnswered(world, ada, ['No such command', '`stpo`', 'Did you mean `/ci stop`'])
    await type(world, ada, '/ci launch acme/web')
    await untilAnswered(world, ada, ['No such command', '`launch`', 'Type `/ci help`'])
    await type(world, ada, '/ci stop acme/web fix/login now')
    await untilAnswered(world, ada, ["I didn't expect `now` there"])
    expect(writesTo(world.ci, 'stop')).toEqual([])
  })

  it('without arguments shows what is red and what runs here, each with its button, and how to get help', async () => {
    const world = await openWorld()
    await type(world, ada, '/ci')
    await untilAnswered(world, ada, ['No builds yet', '/ci help'])
    await pushRed(world)
    await untilCard(world, ['Failed', '#501'])
    await type(world, ada, '/ci')
    const answer = await untilAnswered(world, ada, ['1 red, 0 running', 'Failed', '#501', '/ci help'])
    expect(buttonsOf(answer)).toContain(ACTION_IDS.restart)
  })
})
