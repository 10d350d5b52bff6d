import type { Clock } from '../../lib/clock.ts'

/** `startup_failure`: its workflow could not be read, so it has no jobs. */
const RED = ['failure', 'timed_out', 'startup_failure'] as const
/** How a run can end. */
export const CONCLUSIONS = [...RED, 'success', 'neutral', 'cancelled', 'skipped', 'stale'] as const
/** `none`: it runs until somebody ends it. */
export const OUTCOMES = [...CONCLUSIONS, 'none'] as const

export type Conclusion = (typeof CONCLUSIONS)[number]
export type OpenStatus = 'requested' | 'queued' | 'pending' | 'waiting' | 'in_progress'
export type Status = OpenStatus | 'completed'

export interface Workflow {
  id: number
  name: string
  /** `.github/workflows/ci.yml` */
  path: string
}

export interface Repository {
  id: number
  /** `acme/web` */
  name: string
  isPrivate: boolean
  defaultBranch: string
  workflows: readonly Workflow[]
}

export interface Job {
  id: number
  name: string
  startedAt: number
  /** null: it has not ended */
  conclusion: Conclusion | null
  completedAt: number | null
}

/** One time that a run ran. */
export interface Attempt {
  n: number
  status: Status
  /** `action_required`: it ends only once somebody has approved it. */
  conclusion: Conclusion | 'action_required' | null
  /** the login of who began it */
  actor: string
  startedAt: number
  updatedAt: number
  jobs: Job[]
}

export interface Run {
  id: number
  repository: Repository
  workflow: Workflow
  /** counts per workflow */
  number: number
  event: string
  branch: string | null
  sha: string
  message: string
  author: { name: string; email: string }
  /** the owner of the fork that it comes from */
  fork: string | null
  createdAt: number
  jobNames: readonly string[]
  plan: { outcome: (typeof OUTCOMES)[number]; ms: number; failedJobs: readonly string[] }
  /** oldest first, never empty */
  attempts: Attempt[]
}

/** Everything that the parts of the sandbox share. */
export interface World {
  readonly clock: Clock
  /** known once the server listens */
  url: string
  readonly repositories: readonly Repository[]
  readonly runs: Map<number, Run>
  readonly token: string
  readonly webhookSecret: string
  /** a GitHub App that is installed on every repository; `publicKey`: PEM */
  readonly app: { id: string; publicKey: string } | null
  /** the tokens that it was given, and when they end */
  readonly appTokens: Map<string, number>
  /** the token lacks the permission *Webhooks* */
  areHooksHidden: boolean
  /** GitHub's ids are beyond 32 bits. */
  nextId(): number
}

/** Its workflows by their names; left out: `CI`. */
export type RepositorySeed = Pick<Repository, 'name'> &
  Partial<Pick<Repository, 'isPrivate' | 'defaultBranch'>> & { workflows?: readonly string[] }

export const SEED: readonly RepositorySeed[] = [
  { name: 'acme/web', workflows: ['CI', 'Nightly'], isPrivate: true },
  { name: 'acme/api' },
  { name: 'acme/ios' },
]

const FIRST_ID = 9_000_000_001

export function createWorld(
  options: Pick<World, 'clock' | 'token' | 'webhookSecret' | 'app'>,
  seed: typeof SEED,
): World {
  let [lastId, lastSeedId] = [FIRST_ID - 1, 4_000]
  const fileOf = (name: string) => `${name.toLowerCase().replaceAll(' ', '-')}.yml`
  const repositories = seed.map(({ name, workflows = ['CI'], isPrivate = false, defaultBranch = 'main' }) => ({
    id: ++lastSeedId,
    name,
    isPrivate,
    defaultBranch,
    workflows: workflows.map((one) => ({ id: ++lastSeedId, name: one, path: `.github/workflows/${fileOf(one)}` })),
  }))
  return {
    ...options,
    appTokens: new Map(),
    areHooksHidden: false,
    url: '',
    repositories,
    runs: new Map(),
    nextId: () => ++lastId,
  }
}

export const findRepository = (world: World, name: string): Repository | undefined =>
  // As GitHub: the case does not count.
  world.repositories.find((repository) => repository.name.toLowerCase() === name.toLowerCase())

/** By its name, its id or its file. */
export const findWorkflow = ({ workflows }: Repository, text: string): Workflow | undefined =>
  workflows.find(({ id, name, path }) => [String(id), name, path, path.split('/').at(-1)].includes(text))

/** Of one repository, the newest first. */
export const runsOf = (world: World, repository: Repository): Run[] =>
  [...world.runs.values()].filter((run) => run.repository === repository).toReversed()

export const isRed = (conclusion: string | null): boolean => RED.some((one) => one === conclusion)

export const currentAttempt = (run: Run): Attempt => run.attempts.at(-1)!

/** GitHub's times have no fraction of a second. */
export const isoTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, -5)}Z`
