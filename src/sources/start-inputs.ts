import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import { isBuildId, type BuildId } from '../domain/ids.ts'
import { isRecord } from '../lib/json.ts'
import { fieldOf, listOf, textOf } from '../lib/raw-values.ts'
import type { StartInput } from './source.ts'
import { timeMsOrNull } from './values.ts'

/** The largest file that is read, in characters: reading it blocks all other work, at worst for half a second. */
const FILE_CHARS_MAX = 64 * 1024
/** GitHub takes 25 inputs, GitLab 20. */
const INPUTS_MAX = 25
const NAME_CHARS_MAX = 100

/**
 * The documents of a YAML file of a repository; null if one is not valid, is too large or too deep, or its aliases expand
 * too much.
 */
export function readYaml(text: string): unknown[] | null {
  if (text.length > FILE_CHARS_MAX) return null
  // Loaded only if somebody starts a build: `yaml` has seventy modules.
  const { parseAllDocuments }: typeof Yaml = createRequire(import.meta.url)('yaml')
  try {
    // GitLab's own tags, such as `!reference`, are warnings. Looking for equal keys takes quadratic time.
    const documents = [...parseAllDocuments(text, { logLevel: 'silent', uniqueKeys: false })]
    if (documents.some(({ errors }) => errors.length > 0)) return null
    return documents.map((document): unknown => document.toJS())
  } catch {
    // Its parser recurses, so a text that is nested too deep overflows the stack.
    return null
  }
}

/** The ids of the listed builds that were created since then (ms). */
export const idsSince = (builds: readonly unknown[], since: number): BuildId[] =>
  builds.flatMap((build) => {
    const id = textOf(fieldOf(build, 'id')) ?? ''
    return (timeMsOrNull.parse(fieldOf(build, 'created_at')) ?? 0) >= since && isBuildId(id) ? id : []
  })

/** The inputs that a file describes, by their names. @param isRequired by the description of one */
export const inputsIn = (
  described: unknown,
  { isRequired, isVariable = false }: { isRequired: (one: unknown) => boolean; isVariable?: boolean },
): StartInput[] =>
  Object.entries(isRecord(described) ? described : {})
    .filter(([name]) => name.length <= NAME_CHARS_MAX)
    .slice(0, INPUTS_MAX)
    .map(([name, one]) => {
      const type =
        fieldOf(one, 'type') === 'boolean' ? 'boolean' : fieldOf(one, 'type') === 'number' ? 'number' : 'text'
      const initial = said(fieldOf(one, 'default') ?? fieldOf(one, 'value'))
      return {
        name,
        description: said(fieldOf(one, 'description')),
        type,
        options:
          type === 'boolean' ? ['true', 'false'] : listOf(fieldOf(one, 'options')).flatMap((text) => said(text) ?? []),
        initial,
        isRequired: initial === null && isRequired(one),
        isVariable,
      }
    })

const said = (value: unknown): string | null => (typeof value === 'boolean' ? String(value) : textOf(value))
