import { z } from 'zod'
import { parseJson } from '../../lib/json.ts'
import type { RunLife } from './runs.ts'
import { runsOf } from './world.ts'
import type { Repository, Run, Workflow, World } from './world.ts'

type Dispatch = { kind: 'run'; run: Run; isWanted: boolean } | { kind: 'refused'; statusCode: number; message: string }

const schema = z.strictObject({
  ref: z.string(),
  inputs: z.record(z.string(), z.unknown()).optional(),
  return_run_details: z.boolean().optional(),
})

/**
 * Starts a run of a workflow on a branch that is known from other runs. Every workflow can be started, with any inputs.
 * `isWanted`: the answer shall name the run. Source: GitHub REST API, "Create a workflow dispatch event".
 */
export function dispatch(
  { world, life, actor }: { world: World; life: RunLife; actor: string },
  repository: Repository,
  workflow: Workflow,
  text: string,
): Dispatch {
  const refused = (statusCode: number, message: string) => ({ kind: 'refused', statusCode, message }) as const
  const body = parseJson(text)
  if (body.kind === 'not-json') return refused(400, 'Problems parsing JSON')
  const wanted = schema.safeParse(body.value).data
  if (!wanted) return refused(422, 'Invalid request.')
  const branch = wanted.ref.replace(/^refs\/(?:heads|tags)\//, '')
  const isKnown = branch === repository.defaultBranch || runsOf(world, repository).some((run) => run.branch === branch)
  if (!isKnown) return refused(422, `No ref found for: ${wanted.ref}`)
  const what = { workflow: String(workflow.id), event: 'workflow_dispatch', branch, author: { login: actor } }
  const pushed = life.push(repository.name, what)
  if (pushed.kind !== 'run') return refused(404, 'Not Found')
  return { kind: 'run', run: pushed.run, isWanted: wanted.return_run_details === true }
}
