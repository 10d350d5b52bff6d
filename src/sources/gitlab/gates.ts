import * as z from 'zod'
import { GATES_MAX, type Gate } from '../../domain/builds/build-event.ts'
import { toStatus } from '../../domain/builds/status.ts'
import { unlessGone } from '../http/errors.ts'
import type { ShownBuild } from '../source.ts'
import { cleanTextOrNull, idDigits } from '../values.ts'
import type { GitlabClient } from './client.ts'

/** The pipeline with its manual jobs, if it waits for one of them. */
export async function withGates<Build extends ShownBuild | null>(
  client: GitlabClient,
  project: string,
  shown: Build,
  signal?: AbortSignal,
): Promise<Build> {
  if (!shown || toStatus(shown.event.rawStatus) !== 'waiting') return shown
  const { event } = shown
  const jobs = (await unlessGone(client.manualJobs(project, event.buildId, signal))) ?? []
  // GitLab lists the newest job first, which comes last in the pipeline.
  const gates = jobs.flatMap(gateOf).toReversed().slice(0, GATES_MAX)
  return { ...shown, event: { ...event, details: { ...event.details, gates } } }
}

/** GitLab does not say who may start a job, so each is offered, and GitLab refuses it. Source: GitLab, "Jobs API". */
function gateOf(value: unknown): Gate[] {
  const job = JOB.safeParse(value).data
  if (!job) return []
  const name = job.stage === null ? job.name : `${job.stage}: ${job.name}`
  return [{ kind: 'job', id: job.id, name, reviewers: [], isOurs: true, until: null }]
}

const JOB = z.object({ id: idDigits, name: cleanTextOrNull.pipe(z.string()), stage: cleanTextOrNull })
