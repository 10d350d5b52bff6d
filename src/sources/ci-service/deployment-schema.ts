import { DEPLOYMENT_TYPES } from '../../domain/project.ts'
import { listOf, named, number, objectOf, oneOf, text } from './request-values.ts'

const setting = text.exactOptional()

const config = objectOf({
  type: oneOf(DEPLOYMENT_TYPES),
  commands: listOf(text).exactOptional(),
  aws_access_key_id: setting,
  aws_secret_access_key: setting,
  region: setting,
  application_name: setting,
  environment_name: setting,
  s3_bucket: setting,
  local_path: setting,
  acl: setting,
  deployment_group_name: setting,
  deployment_config_name: setting,
  path: setting,
  url: setting,
  refresh_token: setting,
  name: setting,
  api_key: setting,
  restore_from: setting,
  post_deploy: setting,
  backup: setting,
  force: setting,
  check_url: setting,
})

/** The deployment pipelines of a creation. Source: interface, E3. */
export const deployments = listOf(
  objectOf({
    branch: objectOf({ branch_name: named, match_mode: named }),
    config: listOf(config),
    position: number,
  }),
)
