import { readFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './imports.ts'

export interface Limit {
  name: string
  /** digits, or the source's expression if it refers to other limits */
  number: string
  file: string
}

const files = (): string[] =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'src'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file.endsWith('.ts'))

/** A constant with such a name is a limit. */
const LIMIT = /^(?:export )?const ([A-Z][A-Z0-9_]*_MAX(?:_M?S)?) = ([^\n]+)$/gm

export const limitsIn = (file: string, text: string): Limit[] =>
  [...text.matchAll(LIMIT)].map(([, name, expression]) => ({ name: name!, number: numberOf(expression!), file }))

/** Every limit of the source. */
export const limitsInSource = (): Limit[] => files().flatMap((file) => limitsIn(file, sourceOf(file)))

/** The value of a constant in a file, whatever its name. */
export const constantIn = (file: string, name: string): string | null => {
  const expression = new RegExp(`^(?:export )?const ${name} = ([^\\n]+)$`, 'm').exec(sourceOf(file))?.[1]
  return expression === undefined ? null : numberOf(expression)
}

function sourceOf(file: string): string {
  try {
    return readFileSync(join(ROOT, file), 'utf8')
  } catch {
    return ''
  }
}

const ROW = /^\| `([A-Z0-9_]+)` +\| ([^|]+?) +\| `([^`|]+)` +\| ([^|]+?) +\|$/gm

/** The rows of docs/limits.md, in order. */
export const limitsOnPage = (): (Limit & { says: string })[] =>
  [...readFileSync(join(ROOT, 'docs/limits.md'), 'utf8').matchAll(ROW)].map(([, name, number, file, says]) => ({
    name: name!,
    number: number!,
    file: `src/${file!}`,
    says: says!,
  }))

function numberOf(expression: string): string {
  const plain = expression.replaceAll('_', '')
  if (!/^[\d.]+(?: *\* *[\d.]+)*$/.test(plain)) return `\`${expression}\``
  const value = plain.split('*').reduce((product, factor) => product * Number(factor), 1)
  return value.toLocaleString('en-US')
}
