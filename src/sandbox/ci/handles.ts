import type { BuildLife, ChangeResult, FinalStatus, Push } from './builds.ts'
import type { CallRecord, Calls } from './calls.ts'
import type { Decision, Deliveries, Delivery } from './deliveries.ts'
import type { Fault, Faults, FaultWanted } from './faults.ts'
import { buildSnapshot, stateSnapshot } from './snapshot.ts'
import type { BuildSnapshot, StateSnapshot } from './snapshot.ts'
import type { Build, Outcome } from './state.ts'
import { storm } from './storm.ts'
import type { Storm } from './storm.ts'
import { changeSwitches } from './switches.ts'
import type { Switches } from './switches.ts'
import { findBuild, findProject } from './world.ts'
import type { World } from './world.ts'

export type PushOutcome =
  | { kind: 'build'; build: BuildSnapshot }
  | { kind: 'no-project' }
  | { kind: 'branch-not-built' }
export type ChangeOutcome =
  | { kind: 'changed'; build: BuildSnapshot }
  | { kind: 'not-possible'; reason: string }
  | { kind: 'no-build' }
export type StormOutcome = { kind: 'builds'; builds: BuildSnapshot[] } | { kind: 'no-project' }
export type SwitchOutcome = { kind: 'switches'; switches: Switches } | { kind: 'invalid'; reasons: string[] }

/** What a person or a test can make the service do. Projects are named by name, uuid or id; builds by uuid or id (digits). */
export interface Handles {
  push(project: string, push?: Push): PushOutcome
  storm(project: string, wanted: Storm): StormOutcome
  finish(build: string, status: FinalStatus): ChangeOutcome
  approve(build: string): ChangeOutcome
  stopBuild(build: string): ChangeOutcome
  /** Pro builds too: this is somebody at the service's own page. */
  restart(build: string, outcome?: Outcome): ChangeOutcome
  state(): StateSnapshot
  deliveries(): readonly Delivery[]
  decisions(): readonly Decision[]
  /** The same bytes once more. Undefined: no such delivery. */
  resend(n: number): Delivery | undefined
  /** Resolves when every queued delivery is answered or has failed. */
  settle(): Promise<void>
  calls(): readonly CallRecord[]
  switches(): Switches
  /** Unknown switches or values change nothing. */
  setSwitches(changes: unknown): SwitchOutcome
  faults(): readonly Fault[]
  addFault(fault: FaultWanted): void
  clearFaults(): void
  /** Every webhook rule of every project gets this address. */
  setWebhookUrl(url: string): void
  /** The account gets a new key and all tokens die: whoever knew them meets 401. `reset` brings the old ones back. */
  forgetKey(): void
  /** Everything as after the start. */
  reset(): void
}

interface Parts {
  world: World
  life: BuildLife
  deliveries: Deliveries
  faults: Faults
  calls: Calls
  reset: () => void
}

export function createHandles({ world, life, deliveries, faults, calls, reset }: Parts): Handles {
  const change = (text: string, act: (build: Build) => ChangeResult): ChangeOutcome => {
    const build = findBuild(world, text)
    if (!build) return { kind: 'no-build' }
    const result = act(build)
    return result.kind === 'changed' ? { kind: 'changed', build: buildSnapshot(world, result.build) } : result
  }

  return {
    push: (project, push = {}) => {
      const result = life.push(project, push)
      return result.kind === 'build' ? { kind: 'build', build: buildSnapshot(world, result.build) } : result
    },
    storm: (project, wanted) => {
      if (!findProject(world, project)) return { kind: 'no-project' }
      const builds = storm(world, life, project, wanted)
      return { kind: 'builds', builds: builds.map((build) => buildSnapshot(world, build)) }
    },
    finish: (text, status) => change(text, (build) => life.finish(build, status)),
    approve: (text) => change(text, (build) => life.approve(build)),
    stopBuild: (text) => change(text, (build) => life.stop(build)),
    restart: (text, outcome) => change(text, (build) => life.restart(build, outcome)),
    state: () => stateSnapshot(world),
    deliveries: () => deliveries.list(),
    decisions: () => deliveries.decisions(),
    resend: (n) => deliveries.resend(n),
    settle: () => deliveries.settle(),
    calls: () => calls.list(),
    switches: () => world.switches,
    setSwitches: (changes) => {
      const result = changeSwitches(world.switches, changes)
      if (result.kind === 'switches') world.switches = result.switches
      return result
    },
    faults: () => faults.list(),
    addFault: (fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    setWebhookUrl: (url) => setWebhookUrl(world, url),
    forgetKey: () => {
      world.state.apiKey = `sandbox-api-key-${world.random.hex(8)}`
      world.state.tokens = []
    },
    reset,
  }
}

function setWebhookUrl(world: World, url: string): void {
  for (const { fields } of world.state.projects) {
    for (const rule of fields.notification_rules) if (rule.notifier === 'webhook') rule.options = { url }
  }
}
