import { describe, expect, it } from 'vitest'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { rowsOf, until } from '../support/app.ts'
import { openWorld, pushRed, type, untilAnswered, untilCard, type World, type WorldOptions } from '../support/world.ts'

const { ada, grace, gus, lin, sol } = PEOPLE
const { builds: BUILDS, ops: OPS, secret: SECRET } = CHANNELS

async function openHomes(options: WorldOptions = {}): Promise<World> {
  const world = await openWorld({ ...options, settings: { DEFAULT_CHANNEL: undefined, ...options.settings } })
  const isListed = () => rowsOf(world.folder, 'select 1 from project where legacy_id is not null').length > 0
  if (options.settings?.['CI_AUTHORIZATION'] === undefined) await until('the projects were read', isListed)
  return world
}

/** The text of this person's Home. */
function homeOf({ slack }: World, user: string): string {
  const blocks = JSON.stringify(slack.views.home(user)?.['blocks'] ?? [])
  return [...blocks.matchAll(/"text":"((?:[^"\\]|\\.)*)"/g)]
    .map(([, text]) => JSON.parse(`"${text}"`) as string)
    .join('\n')
}

const untilHome = (world: World, user: string, ...words: readonly string[]) =>
  until(`the Home of ${user} says ${words.join(', ')}`, () => {
    const says = homeOf(world, user)
    return words.every((word) => says.includes(word)) && says
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}; it says:\n${homeOf(world, user)}`)
  })

async function open(world: World, user: string, ...words: readonly string[]): Promise<string> {
  await world.slack.people.openHome(user)
  return untilHome(world, user, ...words)
}

const press = ({ slack }: World, user: string, actionId: string) =>
  slack.people.clickInView({ user, viewId: String(slack.views.home(user)?.['id']), actionId })

const published = ({ slack }: World): number => slack.counters.calls('views.publish')

describe('App Home', () => {
  it('is drawn when it is opened, and again after what its person did', async () => {
    const world = await openHomes()
    expect(await open(world, ada, 'Your red branches')).toContain('You have not claimed a committer name')
    await type(world, ada, '/ci me ada')
    await untilHome(world, ada, 'Failed builds of', 'mention you')
    await type(world, ada, '/ci subscribe acme/web')
    await untilHome(world, ada, `<#${BUILDS}>`, '*acme/web*')
  })

  it('shows the builds as they are when it is opened', async () => {
    const world = await openHomes()
    await type(world, ada, '/ci subscribe all')
    await type(world, ada, '/ci me ada')
    await untilAnswered(world, ada, ['is yours'])
    world.ci.push('acme/web', { committer: 'ada', outcome: 'error', ms: 0, message: 'Fix login' })
    await untilCard(world, ['Failed'])
    expect(await open(world, ada, ':x: *Failed* acme/web')).toContain('Restart')
    world.ci.push('acme/web', { committer: 'ada', outcome: 'success', ms: 0 })
    await untilCard(world, ['Fixed'])
    await open(world, ada, 'None. Your branches')
  })

  it('shows a waiting build, with a link to approve it', async () => {
    const world = await openHomes()
    await type(world, ada, '/ci subscribe all')
    await open(world, lin, 'Nothing is queued')
    world.ci.push('acme/web', { needsApproval: true, outcome: 'none' })
    await untilCard(world, ['Waiting'])
    await open(world, lin, ':hourglass_flowing_sand: *Waiting* acme/web', 'Open build')
  })

  it('switches mentions off and on at once', async () => {
    const world = await openHomes()
    await open(world, ada, 'Mentions')
    await type(world, ada, '/ci me ada')
    await untilHome(world, ada, 'Turn mentions off')
    await press(world, ada, 'home_mentions')
    await untilHome(world, ada, 'mentions are off', 'Turn mentions on')
    await press(world, ada, 'home_mentions')
    await untilHome(world, ada, 'mention you', 'Turn mentions off')
  })

  it('restarts a build, and answers in a direct message', async () => {
    const world = await openHomes()
    await type(world, ada, '/ci subscribe all')
    await untilAnswered(world, ada, ['*Subscribed*'])
    await pushRed(world)
    const committer = world.ci.state().builds.at(-1)!.committer
    await untilCard(world, ['Failed'])
    await type(world, ada, `/ci me ${committer}`)
    await untilAnswered(world, ada, ['is yours'])
    await open(world, ada, 'Restart')
    await press(world, ada, 'build_restart')
    const restarts = () => world.ci.calls().filter(({ path }) => path.includes('/restart'))
    await until('CI was asked', () => restarts().length === 1)
    const direct = () =>
      JSON.stringify(
        [...world.slack.workspace.channels.values()]
          .filter(({ id }) => id.startsWith('D'))
          .map(({ id }) => world.slack.messages(id)),
      )
    await until('an answer came directly', () => direct().includes('Restart requested'))
  })

  it('shows the subscriptions of a private channel to its members only', async () => {
    const world = await openHomes()
    await world.slack.people.runCommand({ user: grace, channel: SECRET, command: '/ci', text: 'subscribe acme/ios' })
    await world.slack.people.runCommand({ user: grace, channel: OPS, command: '/ci', text: 'subscribe acme/api' })
    await until('both are kept', () => rowsOf(world.folder, 'select 1 from subscription').length === 2)
    expect(await open(world, grace, `<#${SECRET}>`, `<#${OPS}>`)).toContain('acme/ios')
    const ofLin = await open(world, lin, `<#${OPS}>`)
    expect(ofLin).not.toContain(SECRET)
    expect(ofLin).not.toContain('acme/ios')
    // Gus is in neither.
    const ofGus = await open(world, gus, 'None yet')
    expect(ofGus).not.toContain('acme/')
  })

  it('shows nobody subscriptions of private channels if Slack does not say who is a member', async () => {
    const world = await openHomes({ slack: { rates: 'off' } })
    await type(world, ada, '/ci subscribe acme/web')
    await until('it is kept', () => rowsOf(world.folder, 'select 1 from subscription').length === 1)
    world.slack.faults.add({ kind: 'error', method: 'users.conversations' })
    expect(await open(world, ada, 'Slack did not say')).not.toContain('*acme/web*')
  })

  it('shows one sentence to an outsider', async () => {
    const world = await openHomes()
    await type(world, ada, '/ci subscribe acme/web')
    const outside = await open(world, sol, 'Not allowed')
    expect(outside).not.toMatch(/acme|red branches/)
  })

  it('is redrawn after what its own person did, and not if they have not opened it', async () => {
    const world = await openHomes()
    await open(world, ada, 'Your red branches')
    expect(published(world)).toBe(1)
    await type(world, lin, '/ci me lin')
    await untilAnswered(world, lin, ['is yours'])
    await type(world, ada, '/ci me ada')
    await untilHome(world, ada, 'Failed builds of')
    expect([published(world), world.slack.views.home(lin)]).toEqual([2, undefined])
  })
})
