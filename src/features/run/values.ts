import type { Startable, StartInput, StartValue } from '../../sources/source.ts'

/** What a person wants to start. */
export interface Wanted {
  /** as typed, or its key */
  project: string
  /** a branch or tag; null: none was named */
  ref: string | null
  values: Readonly<Record<string, string>>
}

/** What is wrong with one value. `secret`: its name or its value looks like one. `no-branch`: none was named. */
export interface InputFault {
  name: string
  why: 'missing' | 'no-branch' | 'unknown' | 'secret' | 'choice' | 'number'
  /** the possible values, or the names that there are */
  options: readonly string[]
}

/** Nothing is wrong, but more has to be said. */
export const isIncomplete = (faults: readonly InputFault[]): boolean =>
  faults.every(({ why }) => why === 'missing' || why === 'no-branch')

/** Secrets belong to the source: what people type is kept by Slack. */
const SECRET_NAME = /pass(?:word|wd|phrase)|secret|token|credential|(?:api|access|auth|private)[-_]?key/i
const SECRET_VALUE = /-----BEGIN |\b(?:gh[a-z]_|github_pat_|glpat-|xox[a-z]-|AKIA[A-Z\d]{12}|eyJ[\w-]+\.eyJ)/

export const isSecretName = (name: string): boolean => SECRET_NAME.test(name)

/** A name that GitLab takes for a variable. */
const VARIABLE = /^[a-z_]\w{0,99}$/i

/** Compares what is wanted with the project's file. Nothing is corrected: a person has to say what they mean. */
export function checkValues(
  { inputs, takesVariables }: Extract<Startable, { kind: 'startable' }>,
  { ref, values: given }: Pick<Wanted, 'ref' | 'values'>,
): { values: StartValue[]; faults: InputFault[] } {
  const values: StartValue[] = []
  const faults: InputFault[] = ref === null ? [{ name: '', why: 'no-branch', options: [] }] : []
  for (const [name, value] of Object.entries(given)) {
    const input = inputs.find((one) => one.name === name)
    const why = isSecretName(name) || SECRET_VALUE.test(value) ? 'secret' : input && faultOf(input, value)
    if (why) faults.push({ name, why, options: input?.options ?? [] })
    else if (input) values.push({ name, value, type: input.type, isVariable: input.isVariable })
    else if (takesVariables && VARIABLE.test(name)) values.push({ name, value, type: 'text', isVariable: true })
    else faults.push({ name, why: 'unknown', options: inputs.map((one) => one.name) })
  }
  for (const { name } of inputs.filter((one) => one.isRequired && !Object.hasOwn(given, one.name)))
    faults.push({ name, why: isSecretName(name) ? 'secret' : 'missing', options: [] })
  return { values, faults }
}

function faultOf({ options, type }: StartInput, value: string): 'choice' | 'number' | null {
  if (options.length > 0 && !options.includes(value)) return 'choice'
  return type === 'number' && (value.trim() === '' || !Number.isFinite(Number(value))) ? 'number' : null
}
