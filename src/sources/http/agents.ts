import { Agent, buildConnector } from 'undici'
import { rememberingFailures } from './exchange.ts'

/** Times are in ms. `connectionsMax` is per origin. */
interface AgentLimits {
  connectTimeoutMs: number
  headersTimeoutMs: number
  bodyTimeoutMs: number
  connectionsMax: number
}

/** The HTTP agents for CI. Reads share connections; `write` opens one for each request. */
export interface Agents {
  read: Agent
  write: Agent
}

export const openAgents = (limits: AgentLimits): Agents => ({
  read: createAgent(limits),
  // Each write has its own connection. On a shared one that CI was about to close, a write's outcome would be unknown.
  write: createAgent(limits, { pipelining: 0 }),
})

/** One for a log, which is at an address that `connect` checks. */
export const openLogAgent = (options: Agent.Options): Agent => new Agent({ ...options, allowH2: false })

function createAgent(limits: AgentLimits, more: { pipelining?: 0 } = {}): Agent {
  return new Agent({
    ...more,
    // The transport's limits are tested with HTTP/1.1 only.
    connect: rememberingFailures(buildConnector({ timeout: limits.connectTimeoutMs, allowH2: false })),
    headersTimeout: limits.headersTimeoutMs,
    bodyTimeout: limits.bodyTimeoutMs,
    connections: limits.connectionsMax,
    allowH2: false,
  })
}
