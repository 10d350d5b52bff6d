import type { Reads } from './store.ts'

/**
 * The same reads, with the named ones cached by their arguments. Valid only while the transaction does not write what
 * they read.
 */
export function readOnce<R extends Reads>(reads: R, names: readonly (keyof Reads)[]): R & { prime: Prime } {
  const keyOf = (name: keyof Reads, args: unknown[]): string => JSON.stringify([name, ...args])
  const answers = new Map<string, Promise<unknown>>()
  const cached = (name: keyof Reads) => {
    const read = reads[name] as (...args: unknown[]) => Promise<unknown>
    return (...args: unknown[]): Promise<unknown> => {
      const key = keyOf(name, args)
      const answer = answers.get(key) ?? read(...args)
      answers.set(key, answer)
      return answer
    }
  }
  const prime: Prime = (name, args, answer) => void answers.set(keyOf(name, args), Promise.resolve(answer))
  return { ...reads, prime, ...Object.fromEntries(names.map((name) => [name, cached(name)])) }
}

/** Puts a known answer into the cache. */
type Prime = <Name extends keyof Reads>(
  name: Name,
  args: Parameters<Reads[Name]>,
  answer: Awaited<ReturnType<Reads[Name]>>,
) => void
