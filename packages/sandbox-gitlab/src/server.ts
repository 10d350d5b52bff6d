import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { admit } from '../../lib/admit.ts'
import { invariant } from '../../lib/assert.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { closeServer, openServer } from '../../lib/server.ts'
import { findRoute, json, sendReply } from '../../lib/http.ts'
import type { Call, Reply, Route } from '../../lib/http.ts'
import { apiRoutes, checkToken } from './api.ts'
import { badgeRoute } from './badge.ts'
import { controlRoutes } from './control.ts'
import { createFaults } from './faults.ts'
import { createHandles } from './handles.ts'
import { createHook } from './hook.ts'
import { createLife } from './life.ts'
import { createWorld } from './state.ts'
import type { Secrets } from './state.ts'

export interface SandboxGitlabOptions extends Partial<Secrets> {
  /** the address of every project's webhook; by default there is none */
  webhookUrl?: string
  clock?: Clock
  /** the path that GitLab is below, so that a client that ignores the path fails; `''` for none */
  prefix?: string
  /** the paths of its projects */
  projects?: readonly string[]
}

export type SandboxGitlab = ReturnType<typeof createSandboxGitlab>

const SECRETS: Secrets = {
  token: 'glpat-sandbox',
  readToken: 'glpat-sandbox-read-api',
  webhookToken: 'sandbox-webhook-token',
  signingToken: null,
}

// A client that leaves out the prefix gets this page, as if another site were there.
const NO_PAGE: Reply = { statusCode: 404, headers: { 'content-type': 'text/html' }, body: '<h1>404 Not Found</h1>' }

const NO_CALL = json(404, { errors: ['no such call'] })

const isControl = (path: string): boolean => /^\/sandbox(?:\/|$)/.test(path)

/** GitLab CI in memory: REST, webhooks, and handles to control it. */
export function createSandboxGitlab({
  webhookUrl,
  clock,
  prefix = '/gitlab',
  projects,
  ...given
}: SandboxGitlabOptions = {}) {
  const secrets: Secrets = { ...SECRETS, ...given }
  const world = createWorld(clock ?? systemClock, secrets, projects)
  const hook = createHook(world, webhookUrl ?? null)
  const life = createLife({ world, tell: (pipeline) => hook.tell(pipeline) })
  const faults = createFaults()
  const handles = createHandles(world, life, hook, faults)
  const api = apiRoutes(world, life, hook, `${prefix}/api/v4`)
  const control = controlRoutes(handles)
  const badges = [badgeRoute(world, prefix)]
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  let listensOn = '127.0.0.1'

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const admitted = await admit(request, listensOn, isControl)
    if (admitted.kind === 'refused') {
      const reply = json(admitted.statusCode, { errors: [admitted.reason] })
      return sendReply(response, { ...reply, headers: { ...reply.headers, connection: 'close' } })
    }
    const { call } = admitted
    if (isControl(call.path)) return sendReply(response, (await dispatch(control, call)) ?? NO_CALL)
    const reply = world.switches.isDown ? undefined : await gitlabReply(call)
    faults.record(call, reply?.statusCode ?? 0)
    if (reply && !faults.loses(call)) sendReply(response, { ...reply, headers: { ...faults.rate(), ...reply.headers } })
    else response.destroy()
  }

  async function gitlabReply(call: Call): Promise<Reply> {
    const fault = faults.meet(call)
    if (fault) return fault
    if (!call.path.startsWith(`${prefix}/api/`)) return (await dispatch(badges, call)) ?? NO_PAGE
    return checkToken(secrets, call) ?? (await dispatch(api, call)) ?? json(404, { error: '404 Not Found' })
  }

  async function dispatch(routes: readonly Route[], call: Call): Promise<Reply | undefined> {
    const found = findRoute(routes, call.method, call.path)
    return found.kind === 'route' ? found.route.handle(call, found.params) : undefined
  }

  /** Resolves to the server's address, such as `http://127.0.0.1:4030`. Port 0 picks any free port. */
  async function start(port = 0, host = '127.0.0.1'): Promise<string> {
    listensOn = host
    world.siteUrl = `${await openServer(server, port, host)}${prefix}`
    return new URL(world.siteUrl).origin
  }

  /** Ends pipelines, deliveries and open connections at once. */
  async function stop(): Promise<void> {
    life.close()
    await hook.close()
    await closeServer(server)
  }

  return {
    ...handles,
    start,
    stop,
    /** The server's address without the prefix. Throws before the start. */
    get url(): string {
      invariant(world.siteUrl !== '', 'the sandbox has been started')
      return new URL(world.siteUrl).origin
    },
    /** The address and credentials that a client needs. `url` has the prefix, like GITLAB_URL. */
    address: () => ({ url: world.siteUrl, ...secrets, projects: world.projects.map(({ path }) => path) }),
  }
}
