import { z } from 'zod'
import { parseJson } from '../../lib/json.ts'
import { faultOf } from './files.ts'
import { refsOf } from './refs.ts'
import type { RunLife } from './runs.ts'
import type { Repository, Run, Workflow, World } from './world.ts'

type Dispatch = { kind: 'run'; run: Run; isWanted: boolean } | { kind: 'refused'; statusCode: number; message: string }

const schema = z.strictObject({
  ref: z.string(),
  inputs: z.record(z.string(), z.unknown()).optional(),
  return_run_details: z.boolean().optional(),
})

/** Before 3.21, GitHub Enterprise Server cannot name the run. Source: `gh`, `internal/featuredetection`. */
const isOld = ({ serverVersion }: World): boolean => /^3\.(?:\d|1\d|20)(?:\.|$)/.test(serverVersion ?? '')

/**
 * Starts a run of a workflow on a branch or tag, if its file allows that.
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
  if (wanted.return_run_details !== undefined && isOld(world))
    return refused(422, 'Invalid request.\n\n"return_run_details" is not a permitted key.')
  const name = wanted.ref.replace(/^refs\/(?:heads|tags)\//, '')
  const { branches, tags } = refsOf(world, repository)
  if (!branches.has(name) && !tags.has(name)) return refused(422, `No ref found for: ${wanted.ref}`)
  const fault = faultOf(world, repository, workflow.path, name, wanted.inputs ?? {})
  if (fault !== null) return refused(422, fault)
  const on = branches.has(name) ? { branch: name } : { tag: name }
  const what = { workflow: String(workflow.id), event: 'workflow_dispatch', author: { login: actor }, ...on }
  const pushed = life.push(repository.name, what)
  if (pushed.kind !== 'run') return refused(404, 'Not Found')
  pushed.run.inputs = wanted.inputs ?? {}
  return { kind: 'run', run: pushed.run, isWanted: wanted.return_run_details === true }
}
