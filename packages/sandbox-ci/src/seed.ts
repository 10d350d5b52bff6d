import type { Random } from './random.ts'
import { RULE_STATUSES, SCOPES } from './state.ts'
import type { CiState, NotificationRule, Project, ProjectFields } from './state.ts'
import { isoTime } from './world.ts'

/** The default address of the initial webhook rules. */
export const WEBHOOK_URL_DEFAULT = 'http://127.0.0.1:3000/webhooks/builds/sandbox-webhook-secret'

// Fixed and public on purpose: they give access only to a sandbox, and people type them.
const API_KEY = 'sandbox-api-key'
const CLIENT = { clientId: 'sandbox-client', clientSecret: 'sandbox-client-secret' }
export const TOKENS = {
  everything: 'sandbox-token-everything',
  projectRead: 'sandbox-token-project-read',
  projectWrite: 'sandbox-token-project-write',
  buildWrite: 'sandbox-token-build-write',
} as const

/** One organization with three projects (acme/web 11 and acme/api 12 basic, acme/ios 13 pro), one without access. */
export function seedState(random: Random, now: number, webhookUrl: string): CiState {
  const organizationUuid = random.uuid()
  const project = (id: number, name: string, type: 'basic' | 'pro'): Project => ({
    id,
    fields: seedProject(random, { organizationUuid, name, type, now, webhookUrl, id }),
  })
  return {
    organizations: [
      { uuid: organizationUuid, name: 'Acme' },
      { uuid: random.uuid(), name: 'Other' },
    ],
    projects: [project(11, 'acme/web', 'basic'), project(12, 'acme/api', 'basic'), project(13, 'acme/ios', 'pro')],
    builds: new Map(),
    ...seedCredentials(organizationUuid),
    ...CLIENT,
    nextProjectId: 14,
    nextBuildId: 501,
    nextPipelineId: 9001,
  }
}

/** The initial API key and tokens. */
export const seedCredentials = (organizationUuid: string): Pick<CiState, 'tokens' | 'apiKey'> => ({
  tokens: seedTokens(organizationUuid),
  apiKey: API_KEY,
})

function seedTokens(organizationUuid: string): CiState['tokens'] {
  const token = (value: string, scopes: CiState['tokens'][number]['scopes']) => {
    return { value, scopes, organizationUuid, expiresAt: null }
  }
  return [
    token(TOKENS.everything, SCOPES),
    token(TOKENS.projectRead, ['project.read']),
    token(TOKENS.projectWrite, ['project.write']),
    token(TOKENS.buildWrite, ['build.write']),
  ]
}

interface Sketch {
  organizationUuid: string
  name: string
  type: 'basic' | 'pro'
  now: number
  webhookUrl: string
  id: number
}

function seedProject(random: Random, sketch: Sketch): ProjectFields {
  const isBasic = sketch.type === 'basic'
  return {
    ...newProjectFields(random, sketch.now),
    organization_uuid: sketch.organizationUuid,
    name: sketch.name,
    type: sketch.type,
    repository_url: `https://git.example.com/${sketch.name}.git`,
    aes_key: isBasic ? null : newAesKey(random),
    setup_commands: isBasic ? ['npm ci'] : [],
    environment_variables: isBasic ? [{ name: 'NODE_ENV', value: 'test' }] : [],
    team_ids: [7],
    test_pipelines: isBasic ? [{ id: sketch.id * 100 + 1, name: 'Tests', commands: ['npm test'] }] : [],
    deployment_pipelines: isBasic ? [seedDeployment(sketch.id * 100 + 2)] : [],
    notification_rules: seedRules(sketch.webhookUrl),
  }
}

const seedDeployment = (id: number) => ({
  id,
  branch: { branch_name: 'main', match_mode: 'exact' },
  config: { deployments: [{ type: 'script_deployment', commands: ['./deploy.sh'] }] },
  position: 1,
})

const seedRules = (webhookUrl: string): NotificationRule[] => [
  defaultRule(),
  { ...defaultRule(), notifier: 'slack', options: { key: 'sandbox-slack-key' } },
  { ...defaultRule(), notifier: 'webhook', options: { url: webhookUrl } },
  // Reports the status to the repository host. This notifier is not in the documented list.
  { ...defaultRule(), notifier: 'repository_status' },
]

/** The rule of a new project: everyone on the team gets an e-mail for every event on every branch. */
export const defaultRule = (): NotificationRule => ({
  notifier: 'email',
  target: 'all',
  branch: null,
  branch_match: 'exact',
  build_statuses: [...RULE_STATUSES],
  options: {},
})

export const newAesKey = (random: Random): string => random.hex(64)

/** The default fields of a new project. */
export const newProjectFields = (random: Random, now: number): ProjectFields => ({
  uuid: random.uuid(),
  organization_uuid: '',
  name: '',
  type: 'basic',
  repository_url: '',
  repository_provider: 'git',
  authentication_user: 'Ada',
  ssh_key: `ssh-ed25519 ${random.hex(48)} sandbox`,
  aes_key: null,
  created_at: isoTime(now),
  updated_at: isoTime(now),
  build_on_pr_only: false,
  branch_match: 'include',
  branches: [],
  setup_commands: [],
  team_ids: [],
  test_pipelines: [],
  notification_rules: [defaultRule()],
  environment_variables: [],
  deployment_pipelines: [],
})
