import { isSecretPlace, withoutCredentials } from '../../domain/secret-fields.ts'
import { isRecord } from '../../lib/json.ts'

/**
 * What no error may show of a project or a creation: keys and addresses of rules, values of variables, credentials of
 * deployments, the AES key, and all that has such a name. Of a text with several lines each line by itself, too.
 */
export const secretsIn = (value: unknown): string[] => [...new Set(secretsAt(value, []))].filter((text) => text !== '')

function secretsAt(value: unknown, names: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => secretsAt(item, names))
  if (isRecord(value)) return Object.entries(value).flatMap(([name, item]) => secretsAt(item, [...names, name]))
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
  return isSecret(text, names) ? [text, ...linesOf(text)] : []
}

const isSecret = (text: string, names: readonly string[]): boolean =>
  (isSecretPlace(names) && !isVariableName(names)) || withoutCredentials(text) !== text

// CI's reason has to be able to say which variable it means.
const isVariableName = (names: readonly string[]): boolean =>
  names.at(-2) === 'environment_variables' && names.at(-1) === 'name'

const linesOf = (text: string): string[] => (text.includes('\n') ? text.split('\n').map((line) => line.trim()) : [])
