import { createServer } from 'node:http'
import { invariant } from '../../lib/assert.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { closeServer, openServer } from '../../lib/server.ts'
import { badgeRoutes } from './badge.ts'
import { createBuildLife } from './builds.ts'
import { createCalls } from '../../lib/calls.ts'
import { controlRoutes } from './control.ts'
import { createDeliveries } from './deliveries.ts'
import { createFaults } from './faults.ts'
import { createHandles } from './handles.ts'
import type { Handles } from './handles.ts'
import { createListener } from './listener.ts'
import { createRandom } from './random.ts'
import { createRateLimit } from './rate-limit.ts'
import { legacyRoutes } from './routes-legacy.ts'
import { oauthRoutes } from './routes-oauth.ts'
import { siteRoutes } from './routes-site.ts'
import { V2_PREFIX, v2Routes } from './routes-v2.ts'
import { seedState, TOKENS, WEBHOOK_URL_DEFAULT } from './seed.ts'
import { changeSwitches, defaultSwitches } from './switches.ts'
import type { Switches } from './switches.ts'
import type { World } from './world.ts'

export interface SandboxCiOptions {
  /** the address of the initial webhook rules */
  webhookUrl?: string
  /** the same seed gives the same ids, keys and commits */
  seed?: number
  /** set at the start and after every reset */
  switches?: Partial<Switches>
  clock?: Clock
}

/** The addresses and credentials that a client needs. */
export interface SandboxCiAddress {
  /** {base_url}, {legacy_base_url} and {site_url} */
  baseUrl: string
  legacyBaseUrl: string
  siteUrl: string
  tokenUrl: string
  organizationUuid: string
  /** the value of the Authorization header, with every scope */
  authorization: string
  apiKey: string
  clientId: string
  clientSecret: string
}

/** A CI service in memory: its HTTP interfaces, its deliveries to webhooks, and handles to control it. */
export interface SandboxCi extends Handles {
  /** Resolves to the server's address, such as `http://127.0.0.1:4010`. Port 0 picks any free port. */
  start(port?: number, host?: string): Promise<string>
  /** Ends builds, deliveries and open connections at once. */
  stop(): Promise<void>
  /** Throws before the start. */
  readonly url: string
  address(): SandboxCiAddress
}

const SEED_DEFAULT = 1

export function createSandboxCi(options: SandboxCiOptions = {}): SandboxCi {
  const world = createWorld(options)
  const deliveries = createDeliveries(world)
  const life = createBuildLife({ world, tell: (happening) => deliveries.tell(happening) })
  const faults = createFaults()
  const calls = createCalls()
  const limit = createRateLimit(world)
  const reset = () => {
    life.close()
    for (const part of [deliveries, faults, calls, limit]) part.clear()
    Object.assign(world, freshWorld(options, world.clock))
  }
  const handles = createHandles({ world, life, deliveries, faults, calls, reset })
  const routes = [
    ...v2Routes(world, life),
    ...legacyRoutes(world, life),
    ...oauthRoutes(world),
    ...badgeRoutes(world),
    ...siteRoutes(world),
    ...controlRoutes(handles),
  ]
  const server = createServer(createListener({ host: () => listensOn, world, routes, faults, limit, calls }))

  let listensOn = '127.0.0.1'

  async function start(port = 0, host = '127.0.0.1'): Promise<string> {
    listensOn = host
    world.siteUrl = await openServer(server, port, host)
    return world.siteUrl
  }

  async function stop(): Promise<void> {
    life.close()
    await deliveries.close()
    await closeServer(server)
  }

  const url = () => {
    invariant(world.siteUrl !== '', 'the sandbox has been started')
    return world.siteUrl
  }

  return {
    ...handles,
    start,
    stop,
    get url() {
      return url()
    },
    address: () => addressOf(world, url()),
  }
}

const createWorld = (options: SandboxCiOptions): World => {
  const clock = options.clock ?? systemClock
  return { clock, siteUrl: '', ...freshWorld(options, clock) }
}

function freshWorld(options: SandboxCiOptions, clock: Clock): Pick<World, 'random' | 'state' | 'switches'> {
  const random = createRandom(options.seed ?? SEED_DEFAULT)
  const changed = changeSwitches(defaultSwitches(), options.switches ?? {})
  invariant(changed.kind === 'switches', 'the switches are known')
  const state = seedState(random, clock.now(), options.webhookUrl ?? WEBHOOK_URL_DEFAULT)
  return { random, state, switches: changed.switches }
}

function addressOf({ state }: World, url: string): SandboxCiAddress {
  const { apiKey, clientId, clientSecret } = state
  return {
    baseUrl: `${url}${V2_PREFIX}`,
    legacyBaseUrl: url,
    siteUrl: url,
    tokenUrl: `${url}/oauth/token`,
    organizationUuid: state.organizations[0]!.uuid,
    authorization: `Bearer ${TOKENS.everything}`,
    apiKey,
    clientId,
    clientSecret,
  }
}
