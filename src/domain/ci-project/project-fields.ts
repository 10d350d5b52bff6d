import { canonical } from '../../lib/raw-values.ts'

/** One field of a project, as CI's answers name it. Source: interface, Project, E3 (create) and E4 (update). */
export interface ProjectField {
  /** its name in messages, and the name of one of its items */
  words: string
  item?: string
  /** who sets it: only CI (`ci`), a creation (`create`), or a creation and an update (`update`) */
  setBy: 'ci' | 'create' | 'update'
  /** CI accepts it for a Pro project, but drops it */
  isBasicOnly?: true
  /** its values are never shown */
  isSecret?: true
  /** the order of its items does not matter, and CI may change it */
  isUnordered?: true
}

/** Every field that the interface names. Forms, the comparison, the masking and the requests to CI are based on it. */
const PROJECT_FIELDS: Readonly<Record<string, ProjectField>> = {
  type: { words: 'type', setBy: 'update' },
  team_ids: { words: 'teams', item: 'team', setBy: 'update', isUnordered: true },
  notification_rules: { words: 'notification rules', item: 'rule', setBy: 'update', isUnordered: true },
  build_on_pr_only: { words: 'only pull requests', setBy: 'update' },
  branch_match: { words: 'which branches are built', setBy: 'update' },
  branches: { words: 'branches', item: 'branch entry', setBy: 'update', isUnordered: true },
  setup_commands: {
    words: 'setup commands',
    item: 'setup command',
    setBy: 'update',
    isBasicOnly: true,
  },
  environment_variables: {
    words: 'environment variables',
    item: 'variable',
    setBy: 'update',
    isBasicOnly: true,
    isSecret: true,
  },
  repository_url: { words: 'repository', setBy: 'create' },
  test_commands: { words: 'test commands', setBy: 'create' },
  test_pipelines: { words: 'test commands', setBy: 'create' },
  deployment_pipelines: {
    words: 'deployments',
    item: 'deployment',
    setBy: 'create',
  },
  uuid: { words: 'id', setBy: 'ci' },
  organization_uuid: { words: 'organization', setBy: 'ci' },
  name: { words: 'name', setBy: 'ci' },
  repository_provider: { words: 'repository host', setBy: 'ci' },
  authentication_user: { words: 'authentication user', setBy: 'ci' },
  ssh_key: { words: 'SSH key', setBy: 'ci', isSecret: true },
  aes_key: { words: 'AES key', setBy: 'ci', isSecret: true },
  created_at: { words: 'time of creation', setBy: 'ci' },
  updated_at: { words: 'time of the last change', setBy: 'ci' },
}

/** @param name in CI's answers */
export const projectField = (name: string): ProjectField | undefined =>
  Object.hasOwn(PROJECT_FIELDS, name) ? PROJECT_FIELDS[name] : undefined

export const fieldsThat = (isSo: (field: ProjectField) => boolean | undefined): ReadonlySet<string> =>
  new Set(Object.keys(PROJECT_FIELDS).filter((name) => isSo(PROJECT_FIELDS[name]!)))

/** Fields that an update cannot set. Pipelines have their own endpoints. */
export const ANSWER_ONLY = fieldsThat(({ setBy }) => setBy !== 'update')

/** Fields that an update of a Pro project must not have. */
export const BASIC_ONLY = fieldsThat(({ setBy, isBasicOnly }) => setBy === 'update' && isBasicOnly)

// `build_statuses` is a field of a rule.
const UNORDERED: ReadonlySet<string> = new Set([...fieldsThat(({ isUnordered }) => isUnordered), 'build_statuses'])

/** Whether the order of this field's items does not matter. @param name of a project's field, or of a nested one */
export const isUnordered = (name: string): boolean => UNORDERED.has(name)

/** A string that is equal for equivalent values of this field. */
export const canonicalField = (name: string, value: unknown): string => canonical(value, { name, isUnordered })

/** Shown in place of a secret, whatever its value and length. */
export const MASK = '••••••'

/**
 * Whether a field with this name holds secrets, at any place. Only the name decides, so unknown fields are covered too.
 */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name)

const SECRET_NAME = /^aws_|key|token|secret|passw|passphrase|(?:^|_)(?:pass|pwd|auth)$|credential|authorization/i

/** Whether the value at this path of field names is a secret. @param names from the outermost to the innermost */
export function isSecretPlace(names: readonly string[]): boolean {
  if (names.some((name) => isSecretName(name) || projectField(name)?.isSecret)) return true
  return names.some((name) => CLOSED.has(name)) && !HARMLESS.has(names.at(-1) ?? '')
}

// A rule's options and a deployment's settings contain credentials. Only HARMLESS names in them are shown.
const CLOSED = new Set(['options', 'config'])

const HARMLESS = new Set([
  'room',
  'type',
  'region',
  'application_name',
  'environment_name',
  's3_bucket',
  'local_path',
  'acl',
  'deployment_group_name',
  'deployment_config_name',
  'path',
  'name',
  'restore_from',
  'post_deploy',
  'backup',
  'force',
  'commands',
])

/**
 * `https://ada:pw@host/x?token=t` becomes `https://host/x?token=••••••`, anywhere in a text. At the start of the text,
 * `ada:pw@host:x` loses its credentials too.
 */
export const withoutCredentials = (text: string): string =>
  text
    .replaceAll(/:\/\/[^\s/?#]*@/g, '://')
    .replace(/^\s*[^\s/@:]+:[^\s/@]+@/, '')
    .replaceAll(PARAMETER, (whole, name: string) => (isSecretName(name) ? `${name}=${MASK}` : whole))

const PARAMETER = /(?<=[?&])([^=&?#\s]{1,64})=[^&#\s]*/g
