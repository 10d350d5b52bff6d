import { listOf, objectOf } from './json.ts'
import type { Json } from './json.ts'
import { complete, completeBlocks } from './messages.ts'
import { valuesIn, valuesOf } from './view-state.ts'
import type { Values } from './view-state.ts'
import type { Workspace } from './workspace.ts'

/** How many modals a stack may have. */
export const VIEW_STACK_MAX = 3

export type ViewResult = { kind: 'shown'; view: Json } | { kind: 'refused'; error: string }

/** The person who gets a view, and the conversation that they were in, if any. */
export interface ViewPlace {
  userId: string
  channelId?: string | undefined
}

/**
 * The open modals, one stack for each person, and the home tabs. An `external_id` must be unique among all views, or
 * the view is refused with `duplicate_external_id`.
 */
export interface Views {
  open(place: ViewPlace, content: Json): ViewResult
  /** Refused with `push_limit_reached` above three modals, with `not_found` if no modal is open. */
  push(place: ViewPlace, content: Json): ViewResult
  /** Finds the view by id or external id. Fields with the same block and action id keep their input. */
  update(key: string, content: Json): ViewResult
  /** Replaces the person's home tab. It keeps its id. */
  publish(userId: string, content: Json): ViewResult
  find(key: string): Json | undefined
  /** The person closes or submits the top modal. */
  close(userId: string): void
  clear(userId: string): void
  /** A person's open modals, the visible one last. */
  stack(userId: string): readonly Json[]
  home(userId: string): Json | undefined
}

export function createViews(workspace: Workspace): Views {
  const stacks = new Map<string, Json[]>()
  const homes = new Map<string, Json>()
  const stackOf = (userId: string): Json[] => stacks.get(userId) ?? []
  const all = (): Json[] => [...[...stacks.values()].flat(), ...homes.values()]
  const find = (key: string) => all().find((view) => view['id'] === key || (key && view['external_id'] === key))
  const isTaken = ({ external_id: wanted }: Json, own?: Json): boolean =>
    Boolean(wanted) && all().some((view) => view !== own && view['external_id'] === wanted)
  const changed = (userId: string): void =>
    workspace.changes.emit({ kind: 'views', userId, stack: stackOf(userId), home: homes.get(userId) })
  const setStack = (userId: string, stack: Json[]): void => {
    stacks.set(userId, stack)
    changed(userId)
  }
  const ownerOf = (view: Json): string | undefined =>
    [...stacks].find(([, stack]) => stack.includes(view))?.[0] ?? [...homes].find(([, home]) => home === view)?.[0]
  return {
    open: ({ userId, channelId }, content) => {
      if (isTaken(content)) return DUPLICATE
      const view = toView(workspace, content, {}, {}, channelId)
      setStack(userId, [view])
      return { kind: 'shown', view }
    },
    push: ({ userId, channelId }, content) => {
      const stack = stackOf(userId)
      const [root] = stack
      if (!root) return { kind: 'refused', error: 'not_found' }
      if (stack.length >= VIEW_STACK_MAX) return { kind: 'refused', error: 'push_limit_reached' }
      if (isTaken(content)) return DUPLICATE
      const kept = { root_view_id: root['id'], previous_view_id: stack.at(-1)?.['id'] }
      const view = toView(workspace, content, kept, {}, channelId)
      setStack(userId, [...stack, view])
      return { kind: 'shown', view }
    },
    update: (key, content) => {
      const view = find(key)
      if (!view) return { kind: 'refused', error: 'not_found' }
      if (isTaken(content, view)) return DUPLICATE
      const { id, root_view_id, previous_view_id } = view
      replace(view, toView(workspace, content, { id, root_view_id, previous_view_id }, valuesIn(view)))
      const userId = ownerOf(view)
      if (userId !== undefined) changed(userId)
      return { kind: 'shown', view }
    },
    publish: (userId, content) => {
      const known = homes.get(userId)
      if (isTaken(content, known)) return DUPLICATE
      const view = toView(workspace, content, known ? { id: known['id'] } : {}, known ? valuesIn(known) : {})
      homes.set(userId, view)
      changed(userId)
      return { kind: 'shown', view }
    },
    find,
    close: (userId) => setStack(userId, stackOf(userId).slice(0, -1)),
    clear: (userId) => setStack(userId, []),
    stack: stackOf,
    home: (userId) => homes.get(userId),
  }
}

const DUPLICATE: ViewResult = { kind: 'refused', error: 'duplicate_external_id' }

/** Replaces all fields in place, because the view may be in the middle of a stack. */
function replace(view: Json, next: Json): void {
  for (const name of Object.keys(view)) delete view[name]
  Object.assign(view, next)
}

function toView(workspace: Workspace, content: Json, kept: Json, values: Values = {}, channelId?: string): Json {
  const { team, bot, clock } = workspace
  const { blocks: sent, ...rest } = content
  const blocks = completeBlocks(workspace, listOf(sent))
  const id = kept['id'] ?? `V0${String(workspace.nextNumber()).padStart(8, '0')}`
  return {
    team_id: team.id,
    app_id: bot.appId,
    app_installed_team_id: team.id,
    bot_id: bot.botId,
    private_metadata: '',
    callback_id: '',
    external_id: '',
    submit: null,
    close: null,
    clear_on_close: false,
    notify_on_close: false,
    previous_view_id: null,
    root_view_id: id,
    submit_disabled: false,
    ...kept,
    ...objectOf(complete(workspace, rest)),
    blocks,
    state: { values: valuesOf(blocks, values, channelId) },
    id,
    hash: `${Math.floor(clock.now() / 1_000)}.${workspace.nextNumber()}`,
  }
}
