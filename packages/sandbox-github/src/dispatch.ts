import { z } from 'zod'
import { parseJson } from '../../lib/json.ts'
import { refsOf } from './refs.ts'
import type { RunLife } from './runs.ts'
import type { Repository, Run, Workflow, World } from './world.ts'

type Dispatch = { kind: 'run'; run: Run; isWanted: boolean } | { kind: 'refused'; statusCode: number; message: string }

const schema = z.strictObject({
  ref: z.string(),
  inputs: z.record(z.string(), z.unknown()).optional(),
  return_run_details: z.boolean().optional(),
})

/**
 * Starts a run of a workflow on a branch or tag. Every workflow can be started, with any inputs.
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
  const name = wanted.ref.replace(/^refs\/(?:heads|tags)\//, '')
  const { branches, tags } = refsOf(world, repository)
  if (!branches.has(name) && !tags.has(name)) return refused(422, `No ref found for: ${wanted.ref}`)
  const on = branches.has(name) ? { branch: name } : { tag: name }
  const what = { workflow: String(workflow.id), event: 'workflow_dispatch', author: { login: actor }, ...on }
  const pushed = life.push(repository.name, what)
  if (pushed.kind !== 'run') return refused(404, 'Not Found')
  return { kind: 'run', run: pushed.run, isWanted: wanted.return_run_details === true }
}
