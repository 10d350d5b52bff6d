import { Agent, buildConnector } from 'undici'
import { rememberingFailures } from './connector.ts'

/** In ms, and how many connections to one address. */
export interface AgentLimits {
  connectTimeoutMs: number
  headersTimeoutMs: number
  bodyTimeoutMs: number
  connectionsMax: number
}

/** What connects to CI. Reads share connections; `write` opens one for each request. */
export interface Agents {
  read: Agent
  write: Agent
}

export const openAgents = (limits: AgentLimits): Agents => ({
  read: createAgent(limits),
  // A write gets a connection of its own: on one that CI was just about to close, nobody could tell whether it was done.
  write: createAgent(limits, { pipelining: 0 }),
})

function createAgent(limits: AgentLimits, more: { pipelining?: 0 } = {}): Agent {
  return new Agent({
    ...more,
    // The transport's limits are tried and tested on HTTP/1.1 alone.
    connect: rememberingFailures(buildConnector({ timeout: limits.connectTimeoutMs, allowH2: false })),
    headersTimeout: limits.headersTimeoutMs,
    bodyTimeout: limits.bodyTimeoutMs,
    connections: limits.connectionsMax,
    allowH2: false,
  })
}
