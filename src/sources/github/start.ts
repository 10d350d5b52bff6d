import { repositoryIn } from '../../domain/ci-project/project-names.ts'
import { isBuildId } from '../../domain/ids.ts'
import { fieldOf, listOf, textOf } from '../../lib/raw-values.ts'
import { CiError, unlessMissing } from '../http/errors.ts'
import type { Starter, StartInput } from '../source.ts'
import { idsSince, inputsIn, readYaml } from '../start-inputs.ts'
import type { GithubClient } from './client.ts'
import { isOf, workflowIn } from './run.ts'

const EVENT = 'workflow_dispatch'

/** Starts workflows that have the event `workflow_dispatch`. Source: GitHub, "Events that trigger workflows". */
export const githubStarter = (client: GithubClient): Starter => ({
  async read({ projectId, project }, ref) {
    const repository = repositoryIn(project)
    const [shown, workflow] = await Promise.all([
      client.repository(repository),
      client.workflow(repository, workflowIn(projectId)),
    ])
    if (!isOf(projectId, shown)) throw new CiError({ kind: 'not-found', purpose: 'find a repository', isUndone: true })
    const path = (textOf(fieldOf(workflow, 'path')) ?? '').split('@')[0]!
    const at = ref ?? textOf(fieldOf(shown, 'default_branch')) ?? ''
    const file = await unlessMissing(client.file(repository, path, at))
    if (file === null) return { kind: (await isRef(client, repository, at)) ? 'no-trigger' : 'no-ref', ref: at }
    const inputs = dispatchInputs(file)
    if (typeof inputs === 'string') return { kind: inputs, ref: at }
    // A call that starts something follows no redirect.
    const place = { projectId, project: textOf(fieldOf(shown, 'full_name')) ?? repository, ref: at }
    return { kind: 'startable', place, inputs, takesVariables: false }
  },
  async start({ projectId, project, ref }, values) {
    const inputs = Object.fromEntries(values.map(({ name, value }) => [name, value]))
    const id = (await client.dispatch(repositoryIn(project), workflowIn(projectId), { ref, inputs })) ?? ''
    return isBuildId(id) ? id : null
  },
  async startedSince({ projectId, project, ref }, since) {
    const repository = repositoryIn(project)
    const login = await client.login(repository)
    const answer = await client.runs(repository, { workflow: workflowIn(projectId), branch: ref, event: EVENT })
    // The name of an app's account is not known, but it is not a person.
    const isOwn = (actor: unknown) =>
      login === null ? fieldOf(actor, 'type') === 'Bot' : fieldOf(actor, 'login') === login
    const runs = answer === 'unchanged' ? [] : answer.runs
    return idsSince(
      runs.filter((run) => isOwn(fieldOf(run, 'actor'))),
      since,
    )
  },
})

/** GitHub redirects the former name of a branch, which cannot be started. */
const isRef = async (client: GithubClient, repository: string, ref: string): Promise<boolean> =>
  ref !== '' &&
  (fieldOf(await unlessMissing(client.branch(repository, ref)), 'name') === ref ||
    (await unlessMissing(client.tag(repository, ref))) !== null)

function dispatchInputs(file: string): StartInput[] | 'unreadable' | 'no-trigger' {
  const [workflow] = readYaml(file) ?? []
  if (workflow === undefined) return 'unreadable'
  const on = fieldOf(workflow, 'on')
  if (on === EVENT || listOf(on).includes(EVENT)) return []
  const event = fieldOf(on, EVENT)
  if (event === undefined) return 'no-trigger'
  return inputsIn(fieldOf(event, 'inputs'), { isRequired: (one) => fieldOf(one, 'required') === true })
}
