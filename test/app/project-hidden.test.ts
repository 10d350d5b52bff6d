import { expect, it } from 'vitest'
import { ORGANIZATION, project, uuidOf } from '../sources/ci-service/support.ts'
import { rowsOf, until } from '../support/app.ts'
import { startHttpStub } from '../support/http-stub.ts'
import { openWorld } from '../support/world.ts'
import { grace, openPart, saidBy, submit, topOf, untilModal } from './project-forms.ts'

/** A world whose CI answers with this project and stores the branches that it gets. */
async function openWith(change: Record<string, unknown>) {
  let current = project(1, {
    name: 'acme/web',
    team_ids: [7],
    notification_rules: [],
    build_on_pr_only: false,
    branch_match: 'include',
    branches: [],
    setup_commands: [],
    environment_variables: [{ name: 'TOKEN', value: 'value-1' }],
    ...change,
  })
  let isAway = false
  let held: Promise<void> | null = null
  const stub = await startHttpStub(async ({ method, body }) => {
    const waits = held
    held = null
    await waits
    if (isAway) return { status: 403 }
    if (method !== 'PUT') return { json: [current] }
    current = { ...current, branches: (JSON.parse(body) as { branches: unknown }).branches }
    return { json: current }
  })
  const settings = {
    CI_BASE_URL: stub.url,
    CI_LEGACY_BASE_URL: undefined,
    CI_SITE_URL: undefined,
    CI_API_KEY: undefined,
    CI_ORGANIZATION_UUID: ORGANIZATION,
    CI_AUTHORIZATION: 'x',
  }
  const world = await openWorld({ settings })
  await until('the project is known', () => rowsOf(world.folder, 'select 1 from project').length === 1)
  const puts = () => stub.requests.filter(({ method }) => method === 'PUT')
  const leave = () => void (isAway = true)
  /** Holds back the next answer until the returned function is called. */
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    held = promise
    return { release: resolve, isAsked: () => held === null }
  }
  const choose = (part: string) =>
    world.slack.people.select({
      user: grace,
      actionId: 'project_part',
      selected: { selected_option: { value: part } },
    })
  return { world, puts, leave, hold, choose, [Symbol.asyncDispose]: () => stub[Symbol.asyncDispose]() }
}

it('a project with a secret that CI masks is not sent, and the form says which one and what to do', async () => {
  await using ci = await openWith({ environment_variables: [{ name: 'TOKEN', value: '****' }] })
  await openPart(ci.world, 'builds')
  await submit(ci.world, { 'edit:branches': 'main' })
  const said = saidBy(await untilModal(ci.world, ['This cannot be sent', 'nothing was changed']))
  expect(said).toContain('variable `TOKEN`: CI hides it, so it would be lost')
  expect(said).not.toContain('Send to CI')
  expect(ci.puts()).toEqual([])
})

it('a project that CI does not show completely is sent only after a warning, which the result repeats', async () => {
  await using ci = await openWith({ environment_variables: undefined })
  await openPart(ci.world, 'builds')
  await submit(ci.world, { 'edit:branches': 'main' })
  const preview = saidBy(await untilModal(ci.world, ['Send to CI']))
  expect(preview).toContain('CI does not show environment variables')
  expect(preview).not.toContain('nothing else does')
  await submit(ci.world)
  const end = saidBy(await untilModal(ci.world, ['Changed', 'CI does not show environment variables']))
  expect(end).not.toContain('and nothing else has changed')
  expect(ci.puts()).toHaveLength(1)
  expect(uuidOf(1)).toBe(ci.puts()[0]?.path.split('/').at(-1))
})

it('a project that CI shows completely has no such warning', async () => {
  await using ci = await openWith({})
  await openPart(ci.world, 'builds')
  await submit(ci.world, { 'edit:branches': 'main' })
  const preview = saidBy(await untilModal(ci.world, ['Send to CI', 'this changes, and nothing else does']))
  expect(preview).not.toContain('does not show')
})

it('a part that is chosen while CI cannot be read is not drawn', async () => {
  await using ci = await openWith({})
  await openPart(ci.world, 'builds')
  ci.leave()
  await ci.choose('teams')
  await untilModal(ci.world, ['The project could not be read'])
})

it('of two parts that are chosen, the later one is drawn, also if CI answers to the earlier one last', async () => {
  await using ci = await openWith({})
  await openPart(ci.world, 'builds')
  const drawn = () => ci.world.app.lines.filter((line) => line.includes('"outcome":"part"')).length
  const before = drawn()
  const { release, isAsked } = ci.hold()
  await Promise.all([
    ci.choose('teams'),
    until('CI is asked for the first part', isAsked)
      .then(() => ci.choose('type'))
      .then(() => untilModal(ci.world, ['"edit:type"'])),
  ])
  release()
  await until('both choices have ended', () => drawn() === before + 2)
  expect(saidBy(topOf(ci.world))).toContain('"edit:type"')
})
