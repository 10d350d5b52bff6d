import { describe, expect, it } from 'vitest'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { buildOf, delivery, rowsOf, send } from '../support/app.ts'
import {
  openReady,
  openWorld,
  press,
  pushRed,
  type,
  untilAnswered,
  untilCard,
  writesTo,
  type World,
} from '../support/world.ts'

const { lin } = PEOPLE
const OTHER_ORGANIZATION = 'dddddddd-1111-2222-3333-444444444444'

/** A build machine, which knows the webhook's secret, sends a delivery that is not CI's. */
async function forge(world: World, build: Record<string, unknown>): Promise<void> {
  expect((await send(world.app.url, delivery(buildOf(7777, { status: 'initiated', ...build })))).status).toBe(202)
}

/** The project and one of its running builds, as CI has them. */
function runningBuild(world: World, project: string) {
  world.ci.push(project, { outcome: 'none' })
  const { projects, builds } = world.ci.state()
  const { id, uuid } = projects.find(({ name }) => name === project)!
  const build = builds.findLast((one) => one.project === project)!
  return { projectId: id, projectUuid: uuid, buildId: build.id, buildUuid: build.uuid, commitId: build.commitId }
}

describe('a forged delivery', () => {
  it.each(['the build’s uuid', 'the uuids of both', 'the project’s number too'])(
    'for acme/web #7777 that carries %s of another project does not make /ci stop #7777 stop that other build',
    async (what) => {
      const world = await openReady()
      const web = runningBuild(world, 'acme/web')
      const other = runningBuild(world, 'acme/api')
      await untilCard(world, ['Running', 'acme/api'], ACTION_IDS.stop)
      await forge(world, {
        project_id: what.includes('number') ? other.projectId : web.projectId,
        build_uuid: other.buildUuid,
        project_uuid: what === 'the build’s uuid' ? web.projectUuid : other.projectUuid,
      })
      await untilCard(world, ['Running', 'acme/web', '#7777'])
      await type(world, lin, '/ci stop #7777')
      await untilAnswered(world, lin, ['Not stopped', 'CI does not list this build'])
      expect(writesTo(world.ci, 'stop')).toEqual([])
    },
  )

  it('with another build_id does not make "restart acme/web@docs" rerun another project’s build', async () => {
    const world = await openReady()
    await pushRed(world, 'acme/api')
    await untilCard(world, ['Failed', 'acme/api'], ACTION_IDS.restart)
    const build = world.ci.state().builds.findLast(({ project }) => project === 'acme/api')!
    await forge(world, { build_id: Number(build.id), branch: 'docs', status: 'error' })
    await untilCard(world, ['Failed', 'acme/web', 'docs'])
    await type(world, lin, '/ci restart acme/web@docs')
    await untilAnswered(world, lin, ['Not restarted', 'CI does not list this build'])
    expect(writesTo(world.ci, 'restart')).toEqual([])
  })

  it("cannot choose the organization in CI's addresses", async () => {
    const world = await openReady()
    world.ci.setSwitches({ holdDeliveries: true })
    const { projectId, buildId, buildUuid, projectUuid, commitId } = runningBuild(world, 'acme/web')
    await forge(world, {
      commit_id: commitId,
      short_commit_id: commitId.slice(0, 5),
      project_id: projectId,
      build_id: Number(buildId),
      build_uuid: buildUuid,
      project_uuid: projectUuid,
      organization_uuid: OTHER_ORGANIZATION,
    })
    const card = await untilCard(world, ['Running', 'acme/web', `#${buildId}`], ACTION_IDS.stop)
    await press(world, lin, card, ACTION_IDS.stop)
    await untilAnswered(world, lin, ['Stop requested'])
    expect(writesTo(world.ci, 'stop').map(({ path }) => path)).toEqual([
      `/v2/organizations/${world.ci.address().organizationUuid}/projects/${projectUuid}/builds/${buildUuid}/stop`,
    ])
  })
})

describe('if CI cannot be asked which build that is', () => {
  const withoutLegacy = { settings: { CI_LEGACY_BASE_URL: undefined, CI_API_KEY: undefined } }

  it('the Stop dialog names the uuid, a typed stop only shows the button, and that build is called and audited', async () => {
    const world = await openWorld(withoutLegacy)
    const { projectId, projectUuid, buildId, buildUuid } = runningBuild(world, 'acme/web')
    await forge(world, { project_id: projectId, build_id: Number(buildId), build_uuid: buildUuid })
    const card = await untilCard(world, ['Running', 'acme/web'], ACTION_IDS.stop)
    expect(JSON.stringify(card)).toContain(`CI stops the build ${buildUuid}.`)
    await type(world, lin, `/ci stop #${buildId}`)
    await untilAnswered(world, lin, ['Not stopped yet', 'Press *Stop*'])
    expect(writesTo(world.ci, 'stop')).toEqual([])
    await press(world, lin, card, ACTION_IDS.stop)
    await untilAnswered(world, lin, ['Stop requested'])
    expect(writesTo(world.ci, 'stop')[0]!.path).toContain(`/projects/${projectUuid}/builds/${buildUuid}/stop`)
    expect(rowsOf(world.folder, 'select target from request').map(({ target }) => JSON.parse(String(target)))).toEqual([
      { project: 'acme/web', branch: 'main', projectUuid, buildUuid },
    ])
  })

  it('a different uuid sent later does not redirect the button', async () => {
    const world = await openWorld(withoutLegacy)
    const web = runningBuild(world, 'acme/web')
    const said = { project_id: web.projectId, build_id: Number(web.buildId) }
    await forge(world, { ...said, build_uuid: web.buildUuid })
    const card = await untilCard(world, ['Running', 'acme/web'], ACTION_IDS.stop)
    await forge(world, { ...said, build_uuid: runningBuild(world, 'acme/api').buildUuid })
    await untilCard(world, ['Running', 'acme/api'])
    await press(world, lin, card, ACTION_IDS.stop)
    await untilAnswered(world, lin, ['Stop requested'])
    expect(writesTo(world.ci, 'stop')[0]!.path).toContain(`/builds/${web.buildUuid}/stop`)
  })
})
