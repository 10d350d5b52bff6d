import type {
  BranchSchema,
  BridgeSchema,
  CommitSchema,
  ExpandedMergeRequestSchema,
  ExpandedPipelineSchema,
  JobSchema,
  PipelineSchema,
  PipelineTestReportSchema,
  PipelineTestReportSummarySchema,
  SimpleProjectSchema,
  WebhookPipelineEventSchema,
} from '@gitbeaker/rest'
import { expectTypeOf, test } from 'vitest'
import type { commitEntity, pipelineBasic, pipelineEntity, projectEntity } from '../src/entities.ts'
import type { bridgeEntity, buildEntity } from '../src/job-entities.ts'
import type { pipelineHook } from '../src/payload.ts'
import type { branchEntity, mergeRequestEntity } from '../src/ref-entities.ts'
import type { testReport, testReportSummary } from '../src/reports.ts'

// The compiler is the judge: `npm run types`. A third-party client's types are wrong where they never expect null, in
// fields that GitLab leaves out, and in a few more; each such field is named here, with what it is in fact.

/** The fields that a type names; without `Record<string, unknown>`, which lets every field pass. */
type Named<Type> = { [Name in keyof Type as string extends Name ? never : Name]: Type[Name] }
/** The same with these fields as they are in fact. */
type Right<Type, Facts extends object> = Omit<Named<Type>, keyof Facts> & Facts

/** Null until it has begun, and until it has ended. */
interface Times {
  started_at: string | null
  finished_at: string | null
}

type Pipeline = Right<ExpandedPipelineSchema, Times & { duration: number | null; committed_at: null; user: User }>
/** GitLab leaves out the date. */
interface User {
  id: number
  username: string
  web_url: string
}
/** Of the user only what everybody may see; no artifacts; no runner that has taken it. */
type Job = Right<
  JobSchema,
  Times & {
    duration: number | null
    queued_duration: number | null
    coverage: null
    erased_at: null
    artifacts_expire_at: null
    artifacts_file?: never
    user: User
    commit: Named<CommitSchema>
    pipeline: Named<PipelineSchema>
    runner: { id: number; description: string } | null
  }
>
type Bridge = Right<
  BridgeSchema,
  Pick<
    Job,
    'started_at' | 'finished_at' | 'duration' | 'queued_duration' | 'coverage' | 'erased_at' | 'user' | 'commit'
  > & {
    pipeline: Named<PipelineSchema>
    downstream_pipeline: Named<PipelineSchema> | null
  }
>
type Project = Right<SimpleProjectSchema, { namespace: { id: number; full_path: string } }>
type Branch = Right<BranchSchema, { commit: Named<CommitSchema> }>
/** Of users only what everybody may see. */
type MergeRequest = Right<
  ExpandedMergeRequestSchema,
  {
    author: User
    merged_by: User | null
    closed_by: User | null
    time_stats: Named<ExpandedMergeRequestSchema['time_stats']>
    pipeline: Named<PipelineSchema>
    head_pipeline: Pipeline
  }
>
type SentPipeline = WebhookPipelineEventSchema['object_attributes']
/** A pipeline has a name only by `workflow:name`. */
type Attributes = Right<SentPipeline, { name: null; finished_at: string | null; duration: number | null }>
type SentBuild = NonNullable<WebhookPipelineEventSchema['builds']>[number]
/** A hook's user has an address, and no page or state. */
type Build = Right<SentBuild, { user: { id: number; username: string; email: string } }>

test('answers are what a third-party client expects, where it is right', () => {
  expectTypeOf<ReturnType<typeof pipelineBasic>>().toExtend<Named<PipelineSchema>>()
  expectTypeOf<ReturnType<typeof pipelineEntity>>().toExtend<Pipeline>()
  expectTypeOf<ReturnType<typeof buildEntity>>().toExtend<Job>()
  expectTypeOf<ReturnType<typeof bridgeEntity>>().toExtend<Bridge>()
  expectTypeOf<ReturnType<typeof commitEntity>>().toExtend<Named<CommitSchema>>()
  expectTypeOf<ReturnType<typeof projectEntity>>().toExtend<Project>()
  expectTypeOf<ReturnType<typeof branchEntity>>().toExtend<Branch>()
  expectTypeOf<ReturnType<typeof mergeRequestEntity>>().toExtend<MergeRequest>()
  expectTypeOf<ReturnType<typeof testReport>>().toExtend<Right<PipelineTestReportSchema, { test_suites: object[] }>>()
  expectTypeOf<ReturnType<typeof testReportSummary>>().toExtend<Named<PipelineTestReportSummarySchema>>()
})

test('a delivery is what a third-party client expects, where it is right', () => {
  type Hook = ReturnType<typeof pipelineHook>
  expectTypeOf<Hook['object_attributes']>().toExtend<Attributes>()
  expectTypeOf<Hook['builds'][number]>().toExtend<Build>()
  expectTypeOf<Hook['merge_request']>().toExtend<WebhookPipelineEventSchema['merge_request']>()
  expectTypeOf<Hook['commit']>().toExtend<WebhookPipelineEventSchema['commit']>()
})

test('an answer with one field less, or of another type, does not compile', () => {
  type Shown = ReturnType<typeof pipelineEntity>
  expectTypeOf<Omit<Shown, 'updated_at'>>().not.toExtend<Pipeline>()
  expectTypeOf<Omit<Shown, 'id'> & { id: string }>().not.toExtend<Pipeline>()
  type Asked = ReturnType<typeof mergeRequestEntity>
  expectTypeOf<Omit<Asked, 'merged_at'>>().not.toExtend<MergeRequest>()
  expectTypeOf<Omit<Asked, 'author'> & { author: string }>().not.toExtend<MergeRequest>()
  expectTypeOf<Omit<ReturnType<typeof branchEntity>, 'merged'>>().not.toExtend<Branch>()
  type Sent = ReturnType<typeof pipelineHook>['builds'][number]
  expectTypeOf<Omit<Sent, 'allow_failure'>>().not.toExtend<Build>()
  expectTypeOf<Omit<Sent, 'failure_reason'> & { failure_reason: number }>().not.toExtend<Build>()
})
