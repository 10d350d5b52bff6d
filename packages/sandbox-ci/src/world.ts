import type { Clock } from '../../lib/clock.ts'
import { bigInteger } from '../../lib/json.ts'
import type { Random } from './random.ts'
import type { Build, CiState, Project } from './state.ts'
import type { Switches } from './switches.ts'

/** What the parts of the sandbox share. A reset replaces `random`, `state` and `switches`. */
export interface World {
  readonly clock: Clock
  random: Random
  state: CiState
  switches: Switches
  /** {site_url}, known once the server listens */
  siteUrl: string
}

/** What `bigIds` adds to ids. Far beyond 2^53: in a client that reads ids as doubles, all become equal. */
const BIG_ID_OFFSET = 2n ** 60n

/** The digits of an id as clients see it. */
export const idDigits = (world: World, id: number): string =>
  String(world.switches.bigIds ? BIG_ID_OFFSET + BigInt(id) : BigInt(id))

/** An id as a JSON integer, or as a string of digits (switch `idsAsStrings`). */
export const wireId = (world: World, id: number): unknown =>
  world.switches.idsAsStrings ? idDigits(world, id) : bigInteger(idDigits(world, id))

/** Finds a project by uuid, by its id as clients see it, or by name. */
export const findProject = (world: World, text: string): Project | undefined =>
  world.state.projects.find(({ id, fields }) => [fields.uuid, idDigits(world, id), fields.name].includes(text))

/** Finds a build by uuid or by its id as clients see it. */
export function findBuild(world: World, text: string): Build | undefined {
  for (const build of world.state.builds.values()) {
    if (build.uuid === text || idDigits(world, build.id) === text) return build
  }
  return undefined
}

export const projectOf = (world: World, build: Build): Project | undefined =>
  world.state.projects.find(({ id }) => id === build.projectId)

/** ISO 8601 UTC with milliseconds. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
