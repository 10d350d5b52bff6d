import type { BuildLife, ChangeResult, FinalStatus, Push } from './builds.ts'
import type { CallRecord, Calls } from '../../lib/calls.ts'
import type { Decision, Deliveries, Delivery } from './deliveries.ts'
import type { Fault, Faults, FaultWanted } from './faults.ts'
import { nightly } from './nightly.ts'
import { readRules } from './request-rules.ts'
import type { RulesRead, RuleSpelling } from './request-rules.ts'
import { seedCredentials } from './seed.ts'
import { buildSnapshot, stateSnapshot } from './snapshot.ts'
import type { BuildSnapshot, StateSnapshot } from './snapshot.ts'
import type { Build, Outcome } from './state.ts'
import { storm } from './storm.ts'
import type { Storm } from './storm.ts'
import { changeSwitches } from './switches.ts'
import type { Switches } from './switches.ts'
import { findBuild, findProject, isoTime } from './world.ts'
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
export type RulesOutcome = RulesRead | { kind: 'no-project' }
export type SwitchOutcome = { kind: 'switches'; switches: Switches } | { kind: 'invalid'; reasons: string[] }

/** What people and tests can make the service do. Projects are given by name, uuid or id; builds by uuid or id (digits). */
export interface Handles {
  push(project: string, push?: Push): PushOutcome
  storm(project: string, wanted: Storm): StormOutcome
  /** Builds the newest commit of `main` of each project again, like a nightly schedule of a real service. */
  nightly(): BuildSnapshot[]
  finish(build: string, status: FinalStatus): ChangeOutcome
  approve(build: string): ChangeOutcome
  stopBuild(build: string): ChangeOutcome
  /** Restarts pro builds too, like the button on the service's own page. */
  restart(build: string, outcome?: Outcome): ChangeOutcome
  state(): StateSnapshot
  deliveries(): readonly Delivery[]
  decisions(): readonly Decision[]
  /** Sends the same bytes again. Undefined if there is no such delivery. */
  resend(n: number): Delivery | undefined
  /** Sends several again, one after the other. Returns the numbers of those that exist. */
  resendInOrder(order: readonly number[]): number[]
  /** Resolves when every queued delivery is answered or has failed. */
  settle(): Promise<void>
  calls(): readonly CallRecord[]
  switches(): Switches
  /** Changes switches. If a switch or value is unknown, changes none. */
  setSwitches(changes: unknown): SwitchOutcome
  faults(): readonly Fault[]
  addFault(fault: FaultWanted): void
  clearFaults(): void
  /** Gives every webhook rule of every project this address. */
  setWebhookUrl(url: string): void
  /** Replaces all rules of a project. They may have the form of E3 or E4. If one is invalid, changes none. */
  setRules(project: string, rules: unknown): RulesOutcome
  /** Gives the account a new API key and revokes all tokens: calls with the old ones get 401. */
  forgetKey(): void
  /** Makes the initial API key and tokens valid again. */
  rememberKey(): void
  /** Goes back to the state after the start. */
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
    nightly: () => nightly(world, life).map((build) => buildSnapshot(world, build)),
    finish: (text, status) => change(text, (build) => life.finish(build, status)),
    approve: (text) => change(text, (build) => life.approve(build)),
    stopBuild: (text) => change(text, (build) => life.stop(build)),
    restart: (text, outcome) => change(text, (build) => life.restart(build, outcome)),
    state: () => stateSnapshot(world),
    deliveries: () => deliveries.list(),
    decisions: () => deliveries.decisions(),
    resend: (n) => deliveries.resend(n),
    resendInOrder: (order) => deliveries.resendInOrder(order),
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
    setRules: (project, rules) => setRules(world, project, rules),
    forgetKey: () => {
      world.state.apiKey = `sandbox-api-key-${world.random.hex(8)}`
      world.state.tokens = []
    },
    rememberKey: () => void Object.assign(world.state, seedCredentials(world.state.organizations[0]!.uuid)),
    reset,
  }
}

// People and tests may write a rule in the form of E3 or of E4.
const ANY_SPELLING: RuleSpelling = { targetNames: ['target', 'email_target'], options: ['nested', 'flat'] }

function setRules(world: World, name: string, raw: unknown): RulesOutcome {
  const project = findProject(world, name)
  if (!project) return { kind: 'no-project' }
  const read = readRules(raw, ANY_SPELLING, world.switches)
  if (read.kind === 'rules') {
    const updated_at = isoTime(world.clock.now())
    project.fields = { ...project.fields, notification_rules: read.rules, updated_at }
  }
  return read
}

function setWebhookUrl(world: World, url: string): void {
  for (const { fields } of world.state.projects) {
    for (const rule of fields.notification_rules) if (rule.notifier === 'webhook') rule.options = { url }
  }
}
