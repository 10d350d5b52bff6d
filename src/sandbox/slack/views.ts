import { listOf } from './json.ts'
import type { Json } from './json.ts'
import { completeBlocks } from './messages.ts'
import { valuesIn, valuesOf } from './view-state.ts'
import type { Values } from './view-state.ts'
import type { Workspace } from './workspace.ts'

/** How many modals may lie upon each other. */
export const VIEW_STACK_MAX = 3

export type ViewResult = { kind: 'shown'; view: Json } | { kind: 'refused'; error: string }

/** The modals that people have open, one stack each, and their home tabs. */
export interface Views {
  open(userId: string, content: Json): Json
  /** `push_limit_reached` above three, `not_found` upon nothing. */
  push(userId: string, content: Json): ViewResult
  /** By view id or external id; fields with the same block and action id keep what was put in. */
  update(key: string, content: Json): ViewResult
  /** A person has one home tab: its id stays. */
  publish(userId: string, content: Json): Json
  find(key: string): Json | undefined
  /** The person closes or submits the top modal. */
  close(userId: string): void
  clear(userId: string): void
  /** The open modals of a person, the visible one last. */
  stack(userId: string): readonly Json[]
  home(userId: string): Json | undefined
}

export function createViews(workspace: Workspace): Views {
  const stacks = new Map<string, Json[]>()
  const homes = new Map<string, Json>()
  const stackOf = (userId: string): Json[] => stacks.get(userId) ?? []
  const all = (): Json[] => [...[...stacks.values()].flat(), ...homes.values()]
  const find = (key: string) => all().find((view) => view['id'] === key || (key && view['external_id'] === key))
  return {
    open: (userId, content) => {
      const view = toView(workspace, content, {})
      stacks.set(userId, [view])
      return view
    },
    push: (userId, content) => {
      const stack = stackOf(userId)
      const [root] = stack
      if (!root) return { kind: 'refused', error: 'not_found' }
      if (stack.length >= VIEW_STACK_MAX) return { kind: 'refused', error: 'push_limit_reached' }
      const view = toView(workspace, content, { root_view_id: root['id'], previous_view_id: stack.at(-1)?.['id'] })
      stacks.set(userId, [...stack, view])
      return { kind: 'shown', view }
    },
    update: (key, content) => {
      const view = find(key)
      if (!view) return { kind: 'refused', error: 'not_found' }
      const { id, root_view_id, previous_view_id } = view
      Object.assign(view, toView(workspace, content, { id, root_view_id, previous_view_id }, valuesIn(view)))
      return { kind: 'shown', view }
    },
    publish: (userId, content) => {
      const known = homes.get(userId)
      const view = toView(workspace, content, known ? { id: known['id'] } : {}, known ? valuesIn(known) : {})
      homes.set(userId, view)
      return view
    },
    find,
    close: (userId) => void stacks.set(userId, stackOf(userId).slice(0, -1)),
    clear: (userId) => void stacks.delete(userId),
    stack: stackOf,
    home: (userId) => homes.get(userId),
  }
}

function toView(workspace: Workspace, content: Json, kept: Json, values: Values = {}): Json {
  const { team, bot, clock } = workspace
  const blocks = completeBlocks(workspace, listOf(content['blocks']))
  const id = kept['id'] ?? `V0${String(workspace.nextNumber()).padStart(8, '0')}`
  return {
    team_id: team.id,
    app_id: bot.appId,
    app_installed_team_id: team.id,
    bot_id: bot.botId,
    private_metadata: '',
    callback_id: '',
    external_id: '',
    clear_on_close: false,
    notify_on_close: false,
    previous_view_id: null,
    root_view_id: id,
    ...kept,
    ...content,
    blocks,
    state: { values: valuesOf(blocks, values) },
    id,
    hash: `${Math.floor(clock.now() / 1_000)}.${workspace.nextNumber()}`,
  }
}
