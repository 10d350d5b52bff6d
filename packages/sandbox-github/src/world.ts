import type { Clock } from '../../lib/clock.ts'
import type { Annotation } from './annotations.ts'
import type { Permission } from './permissions.ts'

/** Conclusions that count as failed. `startup_failure`: the workflow could not be read, so the run has no jobs. */
const RED = ['failure', 'timed_out', 'startup_failure'] as const
/** The conclusions of a run. */
export const CONCLUSIONS = [...RED, 'success', 'neutral', 'cancelled', 'skipped', 'stale'] as const
/** The planned conclusion of a run. `none`: it runs until somebody ends it. */
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

/** Where a run deploys to, once a reviewer allows it. */
export interface Environment {
  id: number
  name: string
  /** whether the token's owner is one of its reviewers */
  mayReview: boolean
  /** logins, and teams as `team/ops`; empty: only its timer holds it, or the token's owner */
  reviewers: readonly string[]
  /** 0: no timer */
  waitMinutes: number
}

/** One attempt of a run. */
export interface Attempt {
  n: number
  status: Status
  /** `action_required`: it starts only after somebody has approved it. */
  conclusion: Conclusion | 'action_required' | null
  /** the login of the person who started it */
  actor: string
  startedAt: number
  updatedAt: number
  /** the ids of the environments to which it may deploy */
  approved: Set<number>
  jobs: Job[]
}

export interface Run {
  id: number
  repository: Repository
  workflow: Workflow
  /** counted for each workflow */
  number: number
  event: string
  /** from the workflow's `run-name`; null: the workflow's name */
  ownName: string | null
  branch: string | null
  sha: string
  message: string
  author: { name: string; email: string }
  /** the owner of the fork that the run comes from; null: no fork */
  fork: string | null
  createdAt: number
  /** what a dispatch gave it */
  inputs: Readonly<Record<string, unknown>>
  jobNames: readonly string[]
  /** those to which it deploys, and that hold it */
  environments: readonly Environment[]
  /** the text of a job's log, by its name; by default a few lines */
  logs: Readonly<Record<string, string>>
  /** of a job, by its name */
  annotations: Readonly<Record<string, readonly Annotation[]>>
  plan: { outcome: (typeof OUTCOMES)[number]; ms: number; failedJobs: readonly string[] }
  /** oldest first, never empty */
  attempts: Attempt[]
  /** oldest first, of all attempts */
  reviews: Review[]
}

/** What a reviewer has said about a run's deployments. */
export interface Review {
  by: string
  state: 'approved' | 'rejected'
  comment: string
  environments: readonly Environment[]
}

/** A pull request into the default branch. */
export interface Pull {
  id: number
  number: number
  /** the run with which it was opened */
  first: Run
  /** its newest run; the head is this run's commit, and the title its message */
  last: Run
  /** null: it is open */
  closed: { at: number; isMerged: boolean } | null
}

/** What a repository has beside its runs. */
export interface Refs {
  /** each with its newest run; null: nothing has been pushed to it */
  branches: Map<string, Run | null>
  /** the next names of branches that were renamed */
  renamed: Map<string, string>
  tags: Map<string, Run>
  /** by number */
  pulls: Map<number, Pull>
}

/** What the parts of the sandbox share. */
export interface World {
  readonly clock: Clock
  /** empty until the server listens */
  url: string
  readonly repositories: readonly Repository[]
  /** the former names of renamed repositories, in lower case */
  readonly formerNames: Map<string, Repository>
  readonly runs: Map<number, Run>
  readonly refs: ReadonlyMap<Repository, Refs>
  readonly token: string
  readonly webhookSecret: string
  /** a GitHub App that is installed on every repository; `publicKey`: PEM */
  readonly app: { id: string; publicKey: string } | null
  /** the tokens that the app has got, with their expiry (ms) */
  readonly appTokens: Map<string, number>
  /** the permissions that every token lacks */
  lacking: ReadonlySet<Permission>
  /** the texts of workflow files that were set, by repository, path and perhaps ref; null: there is no such file */
  readonly files: Map<string, string | null>
  /** GitHub Enterprise Server's version; null: GitHub itself */
  serverVersion: string | null
  /** Ids begin beyond 32 bits, as GitHub's do. */
  nextId(): number
}

/** A repository at the start, with the names of its workflows; the default is `CI`. */
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
    lacking: new Set(),
    files: new Map(),
    serverVersion: null,
    url: '',
    repositories,
    formerNames: new Map(),
    runs: new Map(),
    refs: new Map(repositories.map((one) => [one, newRefs(one)])),
    nextId: () => ++lastId,
  }
}

const newRefs = ({ defaultBranch }: Repository): Refs => ({
  branches: new Map([[defaultBranch, null]]),
  renamed: new Map(),
  tags: new Map(),
  pulls: new Map(),
})

export const findRepository = (world: World, name: string): Repository | undefined =>
  // GitHub ignores the case.
  world.repositories.find((repository) => repository.name.toLowerCase() === name.toLowerCase())

/** The repository that had this name before, unless another one has it now. */
export const findRenamed = (world: World, name: string): Repository | undefined =>
  findRepository(world, name) ? undefined : world.formerNames.get(name.toLowerCase())

/** Finds a workflow by name, id or file. */
export const findWorkflow = ({ workflows }: Repository, text: string): Workflow | undefined =>
  workflows.find(({ id, name, path }) => [String(id), name, path, path.split('/').at(-1)].includes(text))

/** The runs of a repository, newest first. */
export const runsOf = (world: World, repository: Repository): Run[] =>
  [...world.runs.values()].filter((run) => run.repository === repository).toReversed()

export const isRed = (conclusion: string | null): boolean => RED.some((one) => one === conclusion)

export const currentAttempt = (run: Run): Attempt => run.attempts.at(-1)!

/** GitHub's times have no fraction of a second. */
export const isoTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, -5)}Z`
