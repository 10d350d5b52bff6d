import { z } from 'zod'
import { faultReasons } from '../../lib/reasons.ts'
import type { DeploymentPipeline } from './state.ts'
import type { Switches } from './switches.ts'

export type DeploymentsRead =
  | { kind: 'deployments'; deployments: Omit<DeploymentPipeline, 'id'>[] }
  | { kind: 'invalid'; reasons: string[] }

const DEPLOYMENT_TYPES = [
  'script_deployment',
  'elastic_beanstalk_deployment',
  's3_deployment',
  'aws_code_deploy_deployment',
  'app_engine_deployment',
  'heroku_deployment',
] as const

const TEXT_OPTIONS = [
  'aws_access_key_id',
  'aws_secret_access_key',
  'region',
  'application_name',
  'environment_name',
  's3_bucket',
  'local_path',
  'acl',
  'deployment_group_name',
  'deployment_config_name',
  'path',
  'url',
  'refresh_token',
  'name',
  'api_key',
  'restore_from',
  'post_deploy',
  'backup',
  'force',
  'check_url',
]

const configSchema = z
  .object({ type: z.enum(DEPLOYMENT_TYPES), commands: z.array(z.string()).optional() })
  .catchall(z.unknown())
  .check((context) => {
    for (const name of TEXT_OPTIONS) {
      const value = context.value[name]
      if (value === undefined || typeof value === 'string') continue
      context.issues.push({ code: 'custom', message: 'expected string', path: [name], input: value })
    }
  })

const branch = z.object({ branch_name: z.string(), match_mode: z.string() })
const tableItem = z.object({ branch, config: z.array(configSchema), position: z.number() })
const exampleItem = z.object({ branch, config: z.array(z.string()), postion: z.number() })
const anyItem = z
  .object({
    branch,
    config: z.array(z.union([z.string(), configSchema])),
    position: z.number().optional(),
    postion: z.number().optional(),
  })
  .refine((item) => (item.position ?? item.postion) !== undefined, { path: ['position'] })

/**
 * Reads the deployment pipelines of E3. The interface's table has `deploy_pipelines`, config objects, `position`; its
 * example `deployment_pipelines`, config strings, `postion`. The switch `deploymentForm` selects one or both.
 */
export function readDeployments(body: Record<string, unknown>, form: Switches['deploymentForm']): DeploymentsRead {
  const { field, raw } = givenField(body, form)
  if (raw === undefined) return { kind: 'deployments', deployments: [] }
  const parsed = itemsOf(form).safeParse(raw)
  if (!parsed.success) {
    return { kind: 'invalid', reasons: faultReasons(parsed.error, raw).map((reason) => `${field}.${reason}`) }
  }
  return { kind: 'deployments', deployments: parsed.data.map(toDeployment) }
}

function givenField(body: Record<string, unknown>, form: Switches['deploymentForm']): { field: string; raw: unknown } {
  const fields = {
    table: ['deploy_pipelines'],
    example: ['deployment_pipelines'],
    any: ['deploy_pipelines', 'deployment_pipelines'],
  }
  const field = fields[form].find((name) => body[name] != null) ?? 'deploy_pipelines'
  return { field, raw: fields[form].includes(field) ? (body[field] ?? undefined) : undefined }
}

interface DeploymentRequest {
  branch: { branch_name: string; match_mode: string }
  config: readonly (string | Record<string, unknown>)[]
  position?: number | undefined
  postion?: number | undefined
}

function itemsOf(form: Switches['deploymentForm']): z.ZodType<DeploymentRequest[]> {
  if (form === 'table') return z.array(tableItem)
  return form === 'example' ? z.array(exampleItem) : z.array(anyItem)
}

// In a response, `config` is an object with undocumented fields. Here its `deployments` has the request's items.
const toDeployment = (request: DeploymentRequest): Omit<DeploymentPipeline, 'id'> => ({
  branch: request.branch,
  config: { deployments: request.config },
  position: request.position ?? request.postion ?? 0,
})
