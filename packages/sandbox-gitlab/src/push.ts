import { randomBytes } from 'node:crypto'
import { z } from 'zod'

export const ENDS = ['success', 'failed', 'canceled', 'skipped'] as const
export type End = (typeof ENDS)[number]
/** The planned end of a pipeline; `none`: it runs until somebody ends it. */
export const OUTCOMES = [...ENDS, 'none'] as const

const MS_MAX = 3_600_000
const ms = z.int().min(0).max(MS_MAX)

const failedJobSchema = z.strictObject({ name: z.string(), reason: z.string().default('script_failure') })
const nameAlone = z.string().transform((name) => ({ name, reason: 'script_failure' }))
/** Jobs that fail: a name, or a name with GitLab's `failure_reason`. Unknown jobs are added to the pipeline. */
export const failedJobsSchema = z.array(z.union([nameAlone, failedJobSchema]))
export type FailedJobs = z.infer<typeof failedJobsSchema>
export type FailedJobsWanted = z.input<typeof failedJobsSchema>

export const jobSchema = z.strictObject({
  name: z.string(),
  stage: z.string().default('test'),
  allowFailure: z.boolean().default(false),
  /** whether the job waits for a person; without `allowFailure` the pipeline waits too */
  manual: z.boolean().default(false),
  /** a trigger job: it starts another pipeline, and is not a build: GitLab calls it a bridge */
  trigger: z.boolean().default(false),
  /** where it deploys to */
  environment: z.string().nullable().default(null),
  /** what the job has written */
  log: z.string().default(''),
})

const JOBS = [
  { name: 'compile', stage: 'build' },
  { name: 'unit', stage: 'test' },
  { name: 'package', stage: 'package' },
].map((job) => jobSchema.parse(job))

/** A test that a job has reported. GitLab passes on what the report's XML says, so its output may also be no text. */
const testSchema = z.strictObject({
  job: z.string().default('unit'),
  name: z.string(),
  classname: z.string().default('LoginTest'),
  status: z.enum(['success', 'failed', 'error', 'skipped']).default('success'),
  file: z.string().nullable().default(null),
  seconds: z.number().min(0).default(0),
  output: z.unknown().default(null),
  stackTrace: z.string().nullable().default(null),
  /** how often it failed lately on the default branch */
  recentFailures: z.int().min(1).nullable().default(null),
})
const ADA = { name: 'Ada', email: 'ada@acme.example' }
const mergeRequestSchema = z.strictObject({
  iid: z.int().default(1),
  title: z.string().default('Fix login'),
  /** default: the default branch */
  targetBranch: z.string().optional(),
  fork: z.boolean().default(false),
})

/** A push and the course of its pipeline. By default Ada pushes to the default branch, and it passes after a second. */
export const pushSchema = z.strictObject({
  branch: z.string().optional(),
  message: z.string().default('Fix login'),
  author: z.strictObject({ name: z.string(), email: z.string() }).default(ADA),
  /** who triggers it; default: the token's owner */
  user: z.string().nullable().default(null),
  sha: z.string().default(() => randomBytes(20).toString('hex')),
  /** `branch` is the name of a tag */
  tag: z.boolean().default(false),
  mergeRequest: mergeRequestSchema.nullable().default(null),
  /** default: by `parent` `parent_pipeline`, or in another project `pipeline`; else `merge_request_event` or `push` */
  source: z.string().optional(),
  /** the id of the pipeline that started this one */
  parent: z.int().nullable().default(null),
  /** the trigger job of the parent that started it; default: the parent's first */
  parentJob: z.string().nullable().default(null),
  outcome: z.enum(OUTCOMES).default('success'),
  /** how long the pipeline takes from start to end */
  ms: ms.default(1_000),
  /** how long the pipeline is pending first */
  queuedMs: ms.default(0),
  failedJobs: failedJobsSchema.default([]),
  /** adds a manual job that the pipeline waits for */
  needsManual: z.boolean().default(false),
  jobs: z.array(jobSchema).default(JOBS),
  /** what is wrong with its configuration: it fails at once, and has no jobs */
  yamlErrors: z.string().nullable().default(null),
  tests: z.array(testSchema).default([]),
  variables: z.record(z.string(), z.string()).default({}),
})
export type PushWanted = z.input<typeof pushSchema>

export const retrySchema = z.strictObject({
  outcome: z.enum(OUTCOMES).default('success'),
  /** default: if the outcome is `failed`, the jobs that failed before fail again */
  failedJobs: failedJobsSchema.optional(),
})
export type RetryWanted = z.input<typeof retrySchema>
