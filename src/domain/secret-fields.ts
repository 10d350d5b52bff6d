// Which fields of a project hold secrets. Where what CI sends is not described, a field is one until it is known not to be.

/** What stands for a secret, whatever its value and length. */
export const MASK = '••••••'

/** Does a field of this name hold secrets, wherever it stands? */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name)

const SECRET_NAME = /^aws_|key|token|secret|passw|passphrase|(?:^|_)(?:pass|pwd|auth)$|credential|authorization/i

/** Is what stands at the end of these field names a secret? @param names from the outermost to the innermost */
export function isSecretPlace(names: readonly string[]): boolean {
  if (names.some(isSecretName) || names.includes('environment_variables')) return true
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
