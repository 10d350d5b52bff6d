import { expect } from 'vitest'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { rowsOf, until } from '../support/app.ts'
import { openWorld, type, type Scene, type World, type WorldOptions } from '../support/world.ts'

export const { ada, grace, lin, gus } = PEOPLE

/** A world in which the bot knows CI's projects. Grace is the admin. */
export async function openProjects(options: WorldOptions = {}): Promise<World> {
  const world = await openWorld(options)
  await until('the projects are known', () => rowsOf(world.folder, 'select 1 from project').length >= 3)
  return world
}

type View = Record<string, unknown>

/** The top modal of this person. */
export const topOf = ({ slack }: Pick<World, 'slack'>, user: string = grace): View | undefined =>
  slack.views.stack(user).at(-1)

export const saidBy = (view: unknown): string => JSON.stringify(view ?? null)

/** Waits until the top modal contains all of these. */
export const untilModal = (
  world: Pick<World, 'slack'>,
  words: readonly string[],
  user: string = grace,
): Promise<View> =>
  until(`a modal says ${words.join(', ')}`, () => {
    const view = topOf(world, user)
    return view && words.every((word) => saidBy(view).includes(word)) ? view : null
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}; the modal says:\n${saidBy(topOf(world, user))}`)
  })

/** Opens `/ci project edit …` and chooses one part. */
export async function openPart(world: Scene, part: string, project = 'acme/web', user: string = grace): Promise<View> {
  await type(world, user, `/ci project edit ${project}`)
  const view = await untilModal(world, ['what do you want to change?'], user)
  const option = optionsOf(view).find(({ value }) => value === part)
  expect(option, `there is a part ${part}`).toBeDefined()
  await world.slack.people.select({ user, actionId: 'project_part', selected: { selected_option: option } })
  return untilModal(world, [`"${FIRST_INPUT[part] ?? `${part}:`}`], user)
}

/** The block that shows that a part is drawn; the blocks of a rule have the part's name. */
const FIRST_INPUT: Readonly<Record<string, string>> = {
  builds: 'edit:branches',
  setup: 'edit:setup_commands',
  variables: 'edit:environment_variables',
  teams: 'edit:team_ids',
  type: 'edit:type',
}

const optionsOf = (view: View): { value: string }[] => {
  const [block] = view['blocks'] as { accessory: { options: { value: string }[] } }[]
  return block!.accessory.options
}

/** Form values as Slack nests them: typed text by block id. */
export const typing = (fields: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(fields).map(([block, value]) => [block, { value: { type: 'plain_text_input', value } }]),
  )

export const submit = ({ slack }: Pick<World, 'slack'>, fields: Record<string, string> = {}, user: string = grace) =>
  slack.people.submitView({ user, values: typing(fields) })

/** The project as CI has it. */
export const projectIn = ({ ci }: Pick<World, 'ci'>, name = 'acme/web') =>
  ci.state().projects.find((one) => one.name === name)!

export const putsTo = ({ ci }: Pick<World, 'ci'>) => ci.calls().filter(({ method }) => method === 'PUT')

/** Changes the branches in the form and opens the preview, without sending. */
export async function compareBranches(world: Scene, branches: string, user: string = grace): Promise<View> {
  await openPart(world, 'builds', 'acme/web', user)
  await submit(world, { 'edit:branches': branches }, user)
  return untilModal(world, ['Send to CI'], user)
}
