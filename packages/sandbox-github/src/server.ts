import { createServer } from 'node:http'
import { createCalls } from '../../lib/calls.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { closeServer, openServer } from '../../lib/server.ts'
import { apiRoutes } from './api.ts'
import { tokenIn } from './app.ts'
import { badgeRoutes } from './badge.ts'
import { controlRoutes } from './control.ts'
import { createFaults } from './faults.ts'
import { createHandles } from './handles.ts'
import type { Handles } from './handles.ts'
import { createHooks } from './hooks.ts'
import { createListener } from './listener.ts'
import type { Watch } from './listener.ts'
import { createLogs } from './logs.ts'
import { createRunLife } from './runs.ts'
import { createWorld, SEED } from './world.ts'
import type { RepositorySeed } from './world.ts'

export interface SandboxGithubOptions {
  /** the address of all repositories' webhooks; by default there are none */
  webhookUrl?: string
  webhookSecret?: string
  token?: string
  /** a GitHub App that may request installation tokens; by default there is none */
  app?: { id: string; publicKey: string }
  /** default: `acme/web` (private, with `CI` and `Nightly`), `acme/api` and `acme/ios` */
  repositories?: readonly RepositorySeed[]
  clock?: Clock
  watch?: Watch
}

/** GitHub Actions in memory: its HTTP interface, its deliveries to webhooks, and handles to control it. */
export interface SandboxGithub extends Handles {
  /** Resolves to the server's address, such as `http://127.0.0.1:4020`. Port 0 picks any free port. */
  start(port?: number, host?: string): Promise<string>
  /** Ends runs, deliveries and open connections at once. */
  stop(): Promise<void>
  /** Revokes every token that the app has got. */
  endAppTokens(): void
  /** Empty before the start. */
  readonly url: string
  /** The address and credentials that a client needs, and the names of the repositories, such as `acme/web`. */
  address(): { apiUrl: string; token: string; webhookSecret: string; repositories: string[] }
}

export function createSandboxGithub(options: SandboxGithubOptions = {}): SandboxGithub {
  const { clock = systemClock, token = 'github_pat_sandbox', webhookSecret = 'sandbox-webhook-secret' } = options
  const { watch = () => {} } = options
  const world = createWorld({ clock, token, webhookSecret, app: options.app ?? null }, options.repositories ?? SEED)
  const hooks = createHooks(world)
  const life = createRunLife(world, hooks.tell)
  const faults = createFaults(world)
  const logs = createLogs(world)
  const calls = createCalls()
  const handles = createHandles({ world, life, hooks, faults, calls })
  const routes = {
    api: apiRoutes({ world, life, hooks, logs, isApp: (call) => tokenIn(call) !== token }),
    open: [...controlRoutes(handles), ...badgeRoutes(world)],
  }
  const server = createServer(createListener({ host: () => listensOn, world, ...routes, faults, calls, watch }))

  let listensOn = '127.0.0.1'

  async function start(port = 0, host = '127.0.0.1'): Promise<string> {
    listensOn = host
    world.url = await openServer(server, port, host)
    await logs.start(host)
    if (options.webhookUrl !== undefined) hooks.setUrl(options.webhookUrl)
    return world.url
  }

  async function stop(): Promise<void> {
    life.close()
    await hooks.close()
    await Promise.all([closeServer(server), logs.stop()])
  }

  const repositories = world.repositories.map(({ name }) => name)
  return {
    ...handles,
    endAppTokens: () => world.appTokens.clear(),
    start,
    stop,
    get url() {
      return world.url
    },
    address: () => ({ apiUrl: world.url, token, webhookSecret, repositories }),
  }
}
