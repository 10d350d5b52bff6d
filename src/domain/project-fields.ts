import { canonical } from './raw-values.ts'

/** One field of a project, as CI's answers name it. Source: interface, Project, E3 (create) and E4 (update). */
export interface ProjectField {
  /** what it is called in a message, and what one of its items is */
  words: string
  item?: string
  /** who sets it: `ci` alone, a creation (`create`), or a creation and an update (`update`) */
  setBy: 'ci' | 'create' | 'update'
  /** its name in a creation, where that is another */
  nameInCreation?: string
  /** CI takes it of a Pro project, and drops it */
  isBasicOnly?: true
  /** its values are never shown */
  isSecret?: true
  /** CI may answer its items in another order, which means nothing */
  isUnordered?: true
  /** the forms to create and to edit a project have an input for it */
  isInForm?: true
}

/** Every field that the interface names. The forms, the comparison, the masking and the requests to CI are made from it. */
const PROJECT_FIELDS: Readonly<Record<string, ProjectField>> = {
  type: { words: 'type', setBy: 'update', isInForm: true },
  team_ids: { words: 'teams', item: 'team', setBy: 'update', isUnordered: true, isInForm: true },
  notification_rules: { words: 'notification rules', item: 'rule', setBy: 'update', isUnordered: true },
  build_on_pr_only: { words: 'only pull requests', setBy: 'update', isInForm: true },
  branch_match: { words: 'which branches are built', setBy: 'update', isInForm: true },
  branches: { words: 'branches', item: 'branch entry', setBy: 'update', isUnordered: true, isInForm: true },
  setup_commands: {
    words: 'setup commands',
    item: 'setup command',
    setBy: 'update',
    isBasicOnly: true,
    isInForm: true,
  },
  environment_variables: {
    words: 'environment variables',
    item: 'variable',
    setBy: 'update',
    isBasicOnly: true,
    isSecret: true,
    isInForm: true,
  },
  repository_url: { words: 'repository', setBy: 'create', isInForm: true },
  test_commands: { words: 'test commands', setBy: 'create', isBasicOnly: true },
  test_pipelines: { words: 'test commands', setBy: 'create' },
  deployment_pipelines: {
    words: 'deployments',
    item: 'deployment',
    setBy: 'create',
    nameInCreation: 'deploy_pipelines',
    isBasicOnly: true,
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

/** @param name in CI's answers or in a creation */
export const projectField = (name: string): ProjectField | undefined =>
  Object.hasOwn(PROJECT_FIELDS, name)
    ? PROJECT_FIELDS[name]
    : Object.values(PROJECT_FIELDS).find(({ nameInCreation }) => nameInCreation === name)

/** The names of these fields. */
export const fieldsThat = (isSo: (field: ProjectField) => boolean | undefined): ReadonlySet<string> =>
  new Set(Object.keys(PROJECT_FIELDS).filter((name) => isSo(PROJECT_FIELDS[name]!)))

/** What an update has no say in. Pipelines have endpoints of their own. */
export const ANSWER_ONLY = fieldsThat(({ setBy }) => setBy !== 'update')

/** What an update of a Pro project must not have. */
export const BASIC_ONLY = fieldsThat(({ setBy, isBasicOnly }) => setBy === 'update' && isBasicOnly)

/** What CI takes of the creation of a Pro project, and drops: under either name. */
export const PRO_IGNORES: ReadonlySet<string> = new Set(
  Object.entries(PROJECT_FIELDS).flatMap(([name, { isBasicOnly, nameInCreation }]) =>
    isBasicOnly ? [name, nameInCreation ?? name] : [],
  ),
)

/** The fields with an input in the form to create a project. */
export const FORM_FIELDS = fieldsThat(({ isInForm }) => isInForm)

// `build_statuses` stands in a rule.
const UNORDERED: ReadonlySet<string> = new Set([...fieldsThat(({ isUnordered }) => isUnordered), 'build_statuses'])

/** Does the order of this field's items mean nothing? @param name of a field of a project, or of one within */
export const isUnordered = (name: string): boolean => UNORDERED.has(name)

/** A text that is equal for values of this field that say the same. */
export const canonicalField = (name: string, value: unknown): string => canonical(value, { name, isUnordered })

/** What stands for a secret, whatever its value and length. */
export const MASK = '••••••'

/** Does a field of this name hold secrets, wherever it stands? What the interface does not describe counts as secret. */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name)

const SECRET_NAME = /^aws_|key|token|secret|passw|passphrase|(?:^|_)(?:pass|pwd|auth)$|credential|authorization/i

/** Is what stands at the end of these field names a secret? @param names from the outermost to the innermost */
export function isSecretPlace(names: readonly string[]): boolean {
  if (names.some((name) => isSecretName(name) || projectField(name)?.isSecret)) return true
  return names.some((name) => CLOSED.has(name)) && !HARMLESS.has(names.at(-1) ?? '')
}

// A rule's options and a deployment's settings hold credentials beside the rest.
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
 * `https://ada:pw@host/x?token=t` becomes `https://host/x?token=••••••`, wherever in a text it stands; `ada:pw@host:x` at its
 * start loses the same.
 */
export const withoutCredentials = (text: string): string =>
  text
    .replaceAll(/:\/\/[^\s/?#]*@/g, '://')
    .replace(/^\s*[^\s/@:]+:[^\s/@]+@/, '')
    .replaceAll(PARAMETER, (whole, name: string) => (isSecretName(name) ? `${name}=${MASK}` : whole))

const PARAMETER = /(?<=[?&])([^=&?#\s]{1,64})=[^&#\s]*/g
