import { isJson } from '../json.ts'
import type { Json } from '../json.ts'
import type { ViewPlace, Views } from '../views.ts'
import type { Workspace } from '../model.ts'
import { problemsOfView } from '../slack-files.ts'
import { jsonArg, refuse, refuseMissing, requiredArg, textArg } from './call.ts'
import type { Args, Call, Method } from './call.ts'

/** The methods of `views.*`. */
export const viewMethods = {
  'views.open': { scopes: [], run: open },
  'views.push': { scopes: [], run: push },
  'views.update': { scopes: [], run: update },
  'views.publish': { scopes: [], run: publish },
} satisfies Record<string, Method>

function open({ args, triggers, views, workspace }: Call) {
  const content = contentOf(workspace, args, 'modal')
  const trigger = exchange(triggers.exchange(requiredArg(args, 'trigger_id', 'invalid_trigger_id')))
  return { view: unlessRefused(views.open(trigger, content)) }
}

function push({ args, triggers, views, workspace }: Call) {
  const content = contentOf(workspace, args, 'modal')
  const trigger = exchange(triggers.exchange(requiredArg(args, 'trigger_id', 'invalid_trigger_id')))
  return { view: unlessRefused(views.push(trigger, content)) }
}

function exchange(result: ReturnType<Call['triggers']['exchange']>): ViewPlace {
  return result.kind === 'exchanged' ? result : refuse(result.error)
}

function update({ args, views, workspace }: Call) {
  const key = textArg(args, 'view_id') ?? textArg(args, 'external_id') ?? refuse('invalid_arguments')
  const current = views.find(key) ?? refuse('not_found')
  requireHash(args, current)
  const content = contentOf(workspace, args, current['type'] === 'home' ? 'home' : 'modal')
  return { view: unlessRefused(views.update(key, content)) }
}

/** Refuses the call if its `hash` is stale, because the view has changed in the meantime. */
function requireHash(args: Args, current: Json | undefined): void {
  const hash = textArg(args, 'hash')
  if (hash !== undefined && current && hash !== current['hash']) refuse('hash_conflict')
}

function publish({ args, views, workspace }: Call) {
  const userId = requiredArg(args, 'user_id')
  if (!workspace.users.has(userId)) refuse('user_not_found')
  requireHash(args, views.home(userId))
  return { view: unlessRefused(views.publish(userId, contentOf(workspace, args, 'home'))) }
}

function unlessRefused(result: ReturnType<Views['push']>): Json {
  return result.kind === 'shown' ? result.view : refuse(result.error)
}

function contentOf(workspace: Workspace, args: Args, type: 'modal' | 'home'): Json {
  const view = jsonArg(args, 'view', 'invalid_arguments') ?? refuseMissing('view')
  const problems = problemsOfView(workspace, view)
  if (problems.length > 0) {
    const messages = problems.map(({ message, pointer }) => `[ERROR] ${message} [json-pointer:${pointer}]`)
    refuse(problems[0]?.error ?? 'invalid_arguments', { response_metadata: { messages } })
  }
  return isJson(view) && view['type'] === type ? view : refuse('invalid_arguments')
}
