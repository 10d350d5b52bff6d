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
})

const JOBS = [
  { name: 'compile', stage: 'build', allowFailure: false, manual: false },
  { name: 'unit', stage: 'test', allowFailure: false, manual: false },
  { name: 'package', stage: 'package', allowFailure: false, manual: false },
]
const ADA = { name: 'Ada', email: 'ada@acme.example' }
const mergeRequestSchema = z.strictObject({
  iid: z.int().default(1),
  title: z.string().default('Fix login'),
  targetBranch: z.string().default('main'),
  fork: z.boolean().default(false),
})

/** A push and the course of its pipeline. By default Ada pushes to `main`, and the pipeline passes after a second. */
export const pushSchema = z.strictObject({
  branch: z.string().default('main'),
  message: z.string().default('Fix login'),
  author: z.strictObject({ name: z.string(), email: z.string() }).default(ADA),
  sha: z.string().default(() => randomBytes(20).toString('hex')),
  /** `branch` is the name of a tag */
  tag: z.boolean().default(false),
  mergeRequest: mergeRequestSchema.nullable().default(null),
  /** default: `parent_pipeline`, `merge_request_event` or `push`, depending on `parent` and `mergeRequest` */
  source: z.string().optional(),
  /** the id of the pipeline that started this one */
  parent: z.int().nullable().default(null),
  outcome: z.enum(OUTCOMES).default('success'),
  /** how long the pipeline takes from start to end */
  ms: ms.default(1_000),
  /** how long the pipeline is pending first */
  queuedMs: ms.default(0),
  failedJobs: failedJobsSchema.default([]),
  /** adds a manual job that the pipeline waits for */
  needsManual: z.boolean().default(false),
  jobs: z.array(jobSchema).default(JOBS),
  variables: z.record(z.string(), z.string()).default({}),
})
export type PushWanted = z.input<typeof pushSchema>

export const retrySchema = z.strictObject({
  outcome: z.enum(OUTCOMES).default('success'),
  /** default: if the outcome is `failed`, the jobs that failed before fail again */
  failedJobs: failedJobsSchema.optional(),
})
export type RetryWanted = z.input<typeof retrySchema>
