import type { Reads } from './store.ts'

/**
 * The same reads, with the named ones cached by their arguments. Valid only while the transaction does not write what
 * they read.
 */
export function readOnce<R extends Reads>(reads: R, names: readonly (keyof Reads)[]): R {
  const answers = new Map<string, Promise<unknown>>()
  const cached = (name: keyof Reads) => {
    const read = reads[name] as (...args: unknown[]) => Promise<unknown>
    return (...args: unknown[]): Promise<unknown> => {
      const key = JSON.stringify([name, ...args])
      const answer = answers.get(key) ?? read(...args)
      answers.set(key, answer)
      return answer
    }
  }
  return { ...reads, ...Object.fromEntries(names.map((name) => [name, cached(name)])) }
}
