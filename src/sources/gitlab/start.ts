import { isBuildId } from '../../domain/ids.ts'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import { unlessGone, unlessMissing } from '../http/errors.ts'
import type { Starter, StartInput, StartValue } from '../source.ts'
import { idsSince, inputsIn, readYaml } from '../start-inputs.ts'
import type { GitlabClient } from './client.ts'
import { idIn } from './pipeline.ts'

const CONFIG = '.gitlab-ci.yml'

/**
 * Starts pipelines, with inputs and variables. A configuration may include files that name more variables, so any is
 * taken. Source: GitLab, "Pipelines API", "CI/CD inputs".
 */
export const gitlabStarter = (client: GitlabClient): Starter => ({
  async read({ projectId, project }, ref) {
    const id = idIn(projectId)
    const shown = await client.project(id)
    const at = ref ?? textOf(fieldOf(shown, 'default_branch')) ?? ''
    // GitLab also finds a commit by the name of a branch or tag.
    if (at === '' || (await unlessMissing(client.commit(id, at))) === null) return { kind: 'no-ref', ref: at }
    const path = textOf(fieldOf(shown, 'ci_config_path')) ?? CONFIG
    // It may also be in another project, or at an address.
    const file = /@|:\/\//.test(path) ? null : await unlessGone(client.file(id, path, at))
    const inputs = file === null ? [] : configured(file)
    if (inputs === null) return { kind: 'unreadable', ref: at }
    return { kind: 'startable', place: { projectId, project, ref: at }, inputs, takesVariables: true }
  },
  async start({ projectId, ref }, values) {
    const inputs = values.filter(({ isVariable }) => !isVariable).map((one) => [one.name, valueOf(one)] as const)
    const variables = values.filter(({ isVariable }) => isVariable).map(({ name: key, value }) => ({ key, value }))
    const id = (await client.create(idIn(projectId), { ref, inputs: Object.fromEntries(inputs), variables })) ?? ''
    return isBuildId(id) ? id : null
  },
  async startedSince({ projectId, ref }, since) {
    const username = textOf(fieldOf(await client.user(), 'username'))
    if (username === null) return []
    return idsSince(await client.pipelines(idIn(projectId), { ref, source: 'api', username }), since)
  },
})

/** The inputs of the header `spec`, and the variables that GitLab's own form shows: those with a description. */
function configured(file: string): StartInput[] | null {
  const documents = readYaml(file)
  if (documents === null) return null
  const spec = fieldOf(fieldOf(documents[0], 'spec'), 'inputs')
  const variables = inputsIn(fieldOf(documents.at(-1), 'variables'), { isRequired: () => false, isVariable: true })
  return [
    // Without a default, an input is required.
    ...inputsIn(spec, { isRequired: () => true }),
    ...variables.filter(({ description }) => description !== null),
  ]
}

/** GitLab checks the type of an input. */
const valueOf = ({ type, value }: StartValue): string | number | boolean =>
  type === 'boolean' ? value === 'true' : type === 'number' ? Number(value) : value
