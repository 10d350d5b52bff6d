import { BASIC_ONLY } from '../../domain/project-fields.ts'
import type { DeploymentCreation, ProjectCreation, RuleCreation } from '../../domain/project.ts'
import { numberOf } from '../../lib/json.ts'
import { without, withTargetNamed } from './update-body.ts'

/** How CI wants what its interface leaves open about a creation. */
export interface CreationForms {
  /**
   * `table`: `deploy_pipelines` with config objects and `position`, as the table of the interface has it; `example`, as its
   * example has it: `deployment_pipelines` with `postion`, and each config object as its JSON text.
   */
  deploymentForm: 'table' | 'example'
  /** The name of the field of a rule that restricts the recipients of e-mail. */
  createTargetName: 'email_target' | 'target'
}

export const CREATION_FORMS: CreationForms = { deploymentForm: 'table', createTargetName: 'email_target' }

/** The body that creates a project. What CI would ignore of a Pro project is left out. Source: interface, E3. */
export function creationBody(
  creation: ProjectCreation,
  forms: CreationForms = CREATION_FORMS,
): Record<string, unknown> {
  const { team_ids: teamIds, notification_rules: rules, deploy_pipelines: deployments, ...plain } = creation
  const body = {
    ...plain,
    team_ids: teamIds.map(numberOf),
    ...(rules && { notification_rules: rules.map((rule) => ruleBody(rule, forms)) }),
    ...(deployments && deploymentFields(deployments, forms)),
  }
  return creation.type === 'pro' ? without(body, PRO_IGNORES) : body
}

const PRO_IGNORES: ReadonlySet<string> = new Set([...BASIC_ONLY, 'deploy_pipelines', 'deployment_pipelines'])

// The interface knows no null here: what is not said is left out.
const ruleBody = (rule: RuleCreation, { createTargetName }: CreationForms): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(withTargetNamed(createTargetName, { ...rule })).filter(([, value]) => value !== null),
  )

function deploymentFields(
  deployments: readonly DeploymentCreation[],
  { deploymentForm }: CreationForms,
): Record<string, unknown> {
  if (deploymentForm === 'table') return { deploy_pipelines: deployments }
  return { deployment_pipelines: deployments.map(asInExample) }
}

// What the example's strings hold is not said; as JSON nothing of a config is lost. `postion` is its spelling.
const asInExample = ({ branch, config, position }: DeploymentCreation): Record<string, unknown> => ({
  branch,
  config: config.map((one) => JSON.stringify(one)),
  postion: position,
})
