import type { IncomingMessage, ServerResponse } from 'node:http'
import { isOwnPage } from '../../lib/same-origin.ts'
import type { AppWords } from './app-words.ts'
import { answerCall, textChannelOf } from './api.ts'
import type { Answer, ApiParts } from './api.ts'
import { answerControl } from './control.ts'
import type { ControlParts } from './control.ts'
import { playCall } from './fault-play.ts'
import { answerUpload, readUpload, serveFile } from './file-routes.ts'
import { parseArgs, parseObject, readBody, sendJson } from './http.ts'
import { serveGallery } from './gallery-files.ts'
import type { Gallery } from './gallery-files.ts'
import type { Json } from './json.ts'
import { streamChanges } from './live.ts'
import type { Args } from './methods/call.ts'
import { servePage } from './page-files.ts'
import { pageState } from './page-state.ts'
import { isPanelPath } from './panel-door.ts'
import type { PanelFrame } from './panel-door.ts'
import { answerPeople } from './people-control.ts'
import type { PeopleControlParts } from './people-control.ts'
import type { ResponseUrls } from './response-urls.ts'
import type { SocketDoor } from './sockets/sockets.ts'

export interface RouteParts extends ApiParts, ControlParts, PeopleControlParts {
  responseUrls: ResponseUrls
  sockets: SocketDoor
  /** the app's commands and shortcuts, for the page */
  app: AppWords
  panel: PanelFrame
  /** null: there is no gallery */
  gallery: Gallery | null
  stopping: AbortSignal
}

/** Answers a request: Web API, response URLs, the sandbox's own interface, files, the page or the gallery. */
export async function route(parts: RouteParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://sandbox.invalid')
  if (pathname.startsWith('/api/')) return routeApi(parts, request, response, { pathname, searchParams })
  if (pathname.startsWith('/response/')) return routeResponse(parts, request, response, { pathname, searchParams })
  if (pathname.startsWith('/sandbox/')) return routeSandbox(parts, request, response, pathname)
  if (pathname.startsWith('/upload/')) return routeUpload(parts, request, response, pathname)
  if (request.method === 'GET' && serveFile(parts.workspace, pathname, response)) return
  if (request.method === 'GET' && (await servePage(request, response, pathname))) return
  if (request.method === 'GET' && (await serveGallery(parts.gallery, response, pathname))) return
  sendJson(response, 404, { ok: false, error: 'not_found' })
}

interface Place {
  pathname: string
  searchParams: URLSearchParams
}

async function routeApi(
  parts: RouteParts,
  request: IncomingMessage,
  response: ServerResponse,
  { pathname, searchParams }: Place,
): Promise<void> {
  const method = pathname.slice('/api/'.length)
  const args = await argsOf(request, searchParams)
  if (args === 'too-large') return sendJson(response, 413, { ok: false, error: 'request_too_large' })
  if (args === null) return sendJson(response, 200, { ok: false, error: 'invalid_json' })
  const { authorization, 'content-type': contentType } = request.headers
  const act = () => answerCall(parts, { method, args, authorization, contentType })
  await play(parts, response, { method, args, act })
}

async function argsOf(request: IncomingMessage, search: URLSearchParams): Promise<Args | null | 'too-large'> {
  const body = await readBody(request)
  return body === null ? 'too-large' : parseArgs(request, search, body)
}

function play(
  parts: RouteParts,
  response: ServerResponse,
  { method, args, act }: { method: string; args: Args; act: () => Answer },
): Promise<void> {
  const { workspace, counters, stopping, faults } = parts
  const fault = faults.take({ method, channel: textChannelOf(args) })
  return playCall({ method, response, clock: workspace.clock, counters, stopping, act }, fault)
}

async function routeResponse(
  parts: RouteParts,
  request: IncomingMessage,
  response: ServerResponse,
  { pathname, searchParams }: Place,
): Promise<void> {
  const args = await argsOf(request, searchParams)
  if (args === 'too-large') return sendJson(response, 413, { ok: false, error: 'request_too_large' })
  if (args === null) return sendJson(response, 400, { ok: false, error: 'invalid_payload' })
  await play(parts, response, { method: 'response_url', args, act: () => parts.responseUrls.use(pathname, args) })
}

async function routeUpload(
  parts: RouteParts,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  const bytes = await readUpload(request)
  const act = () => answerUpload(parts.workspace, path, bytes)
  await play(parts, response, { method: 'upload_url', args: {}, act })
}

async function routeSandbox(
  parts: RouteParts,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  const verb = request.method ?? 'GET'
  if (verb === 'GET' && path === '/sandbox/events') return stream(parts, response)
  if (verb === 'GET' && path === '/sandbox/state') return sendJson(response, 200, stateOf(parts))
  if (verb !== 'GET' && !isOwnPage(request)) return sendJson(response, 403, { ok: false, error: 'cross_origin' })
  if (isPanelPath(path) && parts.panel.door) return parts.panel.door.answer(request, response, path)
  const body = parseObject((await readBody(request)) ?? '')
  const isByHand = verb === 'POST' && path === '/sandbox/people'
  const answer = isByHand ? await answerPeople(parts, body) : answerControl(parts, { verb, path, body })
  if (!answer) return sendJson(response, 404, { ok: false, error: 'not_found' })
  sendJson(response, answer.status, answer.body)
}

const stateOf = ({ workspace, views, app, gallery }: RouteParts): Json => ({
  ...pageState(workspace, views, app),
  hasGallery: gallery !== null,
})

/** Workspace and panels share a stream, because browsers limit the connections to a server and each page keeps one. */
function stream(parts: RouteParts, response: ServerResponse): void {
  const { workspace, panel, stopping } = parts
  streamChanges(workspace, stateOf(parts), response)
  const left = new AbortController()
  const end = () => void response.end()
  stopping.addEventListener('abort', end, { once: true })
  response.once('close', () => {
    stopping.removeEventListener('abort', end)
    left.abort()
  })
  panel.follow((event) => void response.write(event), AbortSignal.any([left.signal, stopping]))
}
