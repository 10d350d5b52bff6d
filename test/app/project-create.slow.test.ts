import { describe, expect, it } from 'vitest'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'
import { rowsOf, until } from '../support/app.ts'
import { type, untilAnswered, type World } from '../support/world.ts'
import { grace, lin, openProjects, projectIn, saidBy, submit, untilModal } from './project-forms.ts'

const { builds: BUILDS } = CHANNELS

const REPOSITORY = 'https://git.example.com/acme/shop.git'

const creationsAt = ({ ci }: World) =>
  ci.calls().filter(({ method, path }) => method === 'POST' && path.endsWith('/projects'))
const shopsIn = ({ ci }: World) => ci.state().projects.filter(({ name }) => name === 'acme/shop')

async function lookAt(world: World, fields: Record<string, string> = {}): Promise<void> {
  await type(world, grace, '/ci project create')
  await untilModal(world, ['create:repository_url'])
  await submit(world, { 'create:repository_url': REPOSITORY, 'create:team_ids': '7', ...fields })
}

describe('creating a project', () => {
  it.each([
    ['wrapped', 201],
    ['bare', 200],
  ] as const)(
    '(answer %s, %i) shows what will be created, creates it once, and tells the channel',
    async (createdProjectForm, createStatusCode) => {
      const world = await openProjects({ ci: { switches: { createdProjectForm, createStatusCode } } })
      await lookAt(world, {
        'create:branches': 'main',
        'create:setup_commands': 'npm ci',
        'create:test_pipelines': 'npm test',
      })
      const look = await untilModal(world, ['project_create_send', 'acme/shop'])
      expect(saidBy(look)).toContain(':heavy_plus_sign: `main`')
      expect(creationsAt(world)).toEqual([])
      await submit(world)
      await untilModal(world, ['Created', 'acme/shop'])
      expect(projectIn(world, 'acme/shop')).toMatchObject({
        type: 'basic',
        team_ids: [7],
        branches: ['main'],
        setup_commands: ['npm ci'],
        test_pipelines: [{ commands: ['npm test'] }],
      })
      await until('the channel is told', () => world.slack.messages(BUILDS).length === 1)
      expect(String(world.slack.messages(BUILDS)[0]?.['text'])).toContain(' created the project *acme/shop*.')
      await type(world, lin, '/ci project acme/shop')
      await untilAnswered(world, lin, ['acme/shop', 'Repository:'])
    },
  )

  it('accepts variables, and shows and logs no value', async () => {
    const world = await openProjects()
    await lookAt(world, { 'create:environment_variables': 'TOKEN="canary-more\nand more"' })
    const look = await untilModal(world, ['project_create_send'])
    expect(saidBy(look)).not.toContain('canary')
    await submit(world)
    await untilModal(world, ['Created'])
    expect(projectIn(world, 'acme/shop')).toMatchObject({
      environment_variables: [{ name: 'TOKEN', value: 'canary-more\nand more' }],
    })
    expect(world.app.lines.join('\n')).not.toContain('canary')
    expect(JSON.stringify(rowsOf(world.folder, 'select * from request'))).not.toContain('canary')
  })

  it.each([
    ['an invalid address', { 'create:repository_url': 'shop' }, 'create:repository_url', 'must name a repository'],
    ['an invalid team id', { 'create:team_ids': 'seven' }, 'create:team_ids', 'whole number'],
    ['an invalid regex', { 'create:branches': 'main\n^wip' }, 'create:branches', '2: '],
  ])('with %s is refused at the field', async (_, fields, block, words) => {
    const world = await openProjects()
    await type(world, grace, '/ci project create')
    await untilModal(world, ['create:repository_url'])
    const answer = await submit(world, { 'create:repository_url': REPOSITORY, 'create:team_ids': '7', ...fields })
    expect(answer).toMatchObject({ errors: { [block]: expect.stringContaining(words) } })
    expect(creationsAt(world)).toEqual([])
  })

  it('asks once more if the name exists, and then creates a second one', async () => {
    const world = await openProjects()
    await lookAt(world, { 'create:repository_url': 'git@git.example.com:acme/web.git' })
    await untilModal(world, ['acme/web already exists in CI', 'Create a second one'])
    expect(creationsAt(world)).toEqual([])
    await submit(world)
    await untilModal(world, ['Created'])
    expect(world.ci.state().projects.filter(({ name }) => name === 'acme/web')).toHaveLength(2)
  })

  it("shows CI's words if CI refuses, and lets the person correct the form", async () => {
    const world = await openProjects()
    await lookAt(world)
    await untilModal(world, ['project_create_send'])
    world.ci.addFault({
      kind: 'status',
      statusCode: 400,
      reason: 'no such team',
      where: 'v2',
      method: 'POST',
      times: 1,
    })
    await submit(world)
    await untilModal(world, ['Not created', 'CI did not accept the values'])
    await world.slack.people.closeView({ user: grace })
    await submit(world)
    await untilModal(world, ['project_create_send'])
    await submit(world)
    await untilModal(world, ['Created'])
    expect(shopsIn(world)).toHaveLength(1)
  })

  it.each([
    ['lost-answer', ['Created'], 1, 'confirmed'],
    ['down', ['Unclear whether CI has created', 'checked three times'], 0, 'unclear'],
  ] as const)('without an answer (%s) is looked up by name, and not sent again', async (kind, words, count, state) => {
    const world = await openProjects()
    await lookAt(world)
    await untilModal(world, ['project_create_send'])
    world.ci.addFault({ kind, where: 'v2', method: 'POST', times: 1 })
    await submit(world)
    await untilModal(world, words)
    expect([shopsIn(world).length, creationsAt(world).length]).toEqual([count, 1])
    expect(rowsOf(world.folder, 'select state from request').map((row) => row['state'])).toEqual([state])
  })

  it('is for admins only', async () => {
    const world = await openProjects()
    await type(world, lin, '/ci project create')
    await untilModal(world, ['Not allowed', 'create or edit projects'], lin)
  })
})
