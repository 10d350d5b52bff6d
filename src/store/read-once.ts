import type { Reads } from './store.ts'

/**
 * The same reads, but these are cached by their arguments. Only valid while nobody in the transaction writes what they
 * read.
 */
export function readOnce<Reading extends Reads>(reads: Reading, names: readonly (keyof Reads)[]): Reading {
  const answers = new Map<string, Promise<unknown>>()
  const once = (name: keyof Reads) => {
    const read = reads[name] as (...of: unknown[]) => Promise<unknown>
    return (...of: unknown[]): Promise<unknown> => {
      const key = JSON.stringify([name, ...of])
      const answer = answers.get(key) ?? read(...of)
      answers.set(key, answer)
      return answer
    }
  }
  return { ...reads, ...Object.fromEntries(names.map((name) => [name, once(name)])) }
}
