import type { Startable, StartInput, StartValue } from '../../sources/source.ts'

/** What is wrong with one value. `secret`: its name or its value looks like one. */
export interface InputFault {
  name: string
  why: 'unknown' | 'secret' | 'choice' | 'number'
  /** the possible values, or the names that there are */
  options: readonly string[]
}

/** Secrets belong to the source: what people type is kept by Slack. */
const SECRET_NAME = /pass(?:word|wd|phrase)|secret|token|credential|(?:api|access|auth|private)[-_]?key/i
const SECRET_VALUE = /-----BEGIN |\b(?:gh[a-z]_|github_pat_|glpat-|xox[a-z]-|AKIA[A-Z\d]{12}|eyJ[\w-]+\.eyJ)/

export const isSecretName = (name: string): boolean => SECRET_NAME.test(name)

/** A name that GitLab takes for a variable. */
const VARIABLE = /^[a-z_]\w{0,99}$/i

/** Compares the given values with what the project's file says. Nothing is corrected: a person has to say what they mean. */
export function checkValues(
  { inputs, takesVariables }: Pick<Extract<Startable, { kind: 'startable' }>, 'inputs' | 'takesVariables'>,
  given: Readonly<Record<string, string>>,
): { values: StartValue[]; faults: InputFault[]; missing: string[] } {
  const values: StartValue[] = []
  const faults: InputFault[] = []
  for (const [name, value] of Object.entries(given)) {
    const input = inputs.find((one) => one.name === name)
    const fault = faultOf({ name, value, input, isTaken: takesVariables && VARIABLE.test(name) })
    if (fault === 'unknown') faults.push({ name, why: fault, options: inputs.map((one) => one.name) })
    else if (fault) faults.push({ name, why: fault, options: input?.options ?? [] })
    else values.push({ name, value, type: input?.type ?? 'text', isVariable: input?.isVariable ?? true })
  }
  const missing = inputs.filter((one) => one.isRequired && !Object.hasOwn(given, one.name)).map(({ name }) => name)
  faults.push(...missing.filter(isSecretName).map((name) => ({ name, why: 'secret' as const, options: [] })))
  return { values, faults, missing }
}

function faultOf({
  name,
  value,
  input,
  isTaken,
}: {
  name: string
  value: string
  input: StartInput | undefined
  isTaken: boolean
}): InputFault['why'] | null {
  if (isSecretName(name) || SECRET_VALUE.test(value)) return 'secret'
  if (!input) return isTaken ? null : 'unknown'
  if (input.options.length > 0 && !input.options.includes(value)) return 'choice'
  return input.type === 'number' && (value.trim() === '' || !Number.isFinite(Number(value))) ? 'number' : null
}
