// The fields of a project by their names in CI's answers. Source: interface, Project and E4.

/** What an update has no say in. Pipelines have endpoints of their own. */
export const ANSWER_ONLY: ReadonlySet<string> = new Set([
  'uuid',
  'organization_uuid',
  'name',
  'repository_url',
  'repository_provider',
  'authentication_user',
  'ssh_key',
  'aes_key',
  'created_at',
  'updated_at',
  'test_pipelines',
  'deployment_pipelines',
])

export const BASIC_ONLY: ReadonlySet<string> = new Set(['setup_commands', 'environment_variables'])

/** CI would take these of a Pro project that is created, and drop them. */
export const PRO_IGNORES: ReadonlySet<string> = new Set([...BASIC_ONLY, 'test_commands', 'deploy_pipelines'])

/** Every field that the interface names. */
export const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...ANSWER_ONLY,
  ...BASIC_ONLY,
  'type',
  'build_on_pr_only',
  'branch_match',
  'branches',
  'team_ids',
  'notification_rules',
])
