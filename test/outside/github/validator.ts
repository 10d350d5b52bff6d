import { Ajv, type ErrorObject } from 'ajv'

/**
 * What is wrong with a value: one line for each fault, beginning with its path.
 * @param schema one that refers to the root by its id, or a reference to one in the root
 */
export type Validator = (schema: object | string, value: unknown) => string[]

/**
 * Schemas are compiled when they are first needed.
 * @param coerceTypes whether texts are read as numbers where a schema wants these
 */
export function createValidator(id: string, root: object, coerceTypes = false): Validator {
  // Published schemas are taken as they are. Most of the time would go into checking and optimizing them.
  const quick = { strict: false, validateSchema: false, meta: false, inlineRefs: false, code: { optimize: false } }
  const ajv = new Ajv({ ...quick, allErrors: true, coerceTypes, formats: FORMATS, logger: false }).addSchema(root, id)
  return (schema, value) => {
    const validate = typeof schema === 'string' ? ajv.getSchema(schema)! : ajv.compile(schema)
    return validate(value) ? [] : [...new Set((validate.errors ?? []).map(sentence))]
  }
}

/** Undefined if it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const FORMATS = {
  // In UTC, or with an offset.
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
  email: /^\S+@\S+$/,
  // The addresses of GitHub's lists end with a template: `…/followers{/other_user}`.
  uri: (text: string) => URL.canParse(text),
}

function sentence({ instancePath, message, params }: ErrorObject): string {
  const { additionalProperty } = params as { additionalProperty?: string }
  // One line for a fault in each entry of a list.
  const path = instancePath.replaceAll(/\/\d+(?=\/|$)/g, '/*')
  return additionalProperty === undefined ? `${path} ${message}` : `${path}/${additionalProperty} is not described`
}
