import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import * as z from 'zod'

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment; what it lacks comes from `.env`, as that file is now. */
export const withEnvFile = (environment: Environment): Environment => ({
  ...(existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {}),
  ...environment,
})

export type Reader = ReturnType<typeof createReader>

/** Reads variables one by one, and collects what is wrong. An empty value counts as not set. */
export function createReader(environment: Environment) {
  const faults: string[] = []
  const fault = (what: string): void => void faults.push(what)
  const text = (name: string): string | null => environment[name]?.trim() || null

  return {
    faults,
    fault,
    text,
    needed(name: string, why: string): string {
      const value = text(name)
      if (!value) fault(`${name} is not set: ${why}`)
      return value ?? ''
    },
    url(name: string): string | null {
      const value = text(name)
      if (!value) return null
      if (HTTP_URL.safeParse(value).success) return value
      fault(`${name} is not an http(s) address`)
      return null
    },
    port(name: string): number | null {
      const value = text(name)
      if (!value) return null
      const port = PORT.safeParse(value)
      if (!port.success) fault(`${name} must be a port, from 0 to 65535`)
      return port.data ?? null
    },
    days(name: string, otherwise: number): number {
      const value = text(name)
      if (!value) return otherwise
      const days = DAYS.safeParse(value)
      if (!days.success) fault(`${name} must be a whole number of days, from 1 to ${DAYS_MAX}`)
      return days.data ?? otherwise
    },
    /** @param wrong the fault if an item does not match; follows the variable's name */
    list(name: string, form: { test(item: string): boolean } = /^/, wrong = ''): readonly string[] {
      const items =
        text(name)
          ?.split(',')
          .map((item) => item.trim()) ?? []
      const given = items.filter((item) => item !== '')
      // Perhaps a secret or a person's id that was never filled in.
      if (given.length < items.length) fault(`${name} has an empty entry: fill it in, or remove its comma`)
      if (given.some((item) => !form.test(item))) fault(`${name} ${wrong}`)
      return given
    },
    oneOf<Word extends string>(name: string, words: readonly Word[], otherwise: Word): Word {
      const value = text(name)?.toLowerCase() ?? otherwise
      const word = words.find((known) => known === value)
      if (!word) fault(`${name} must be one of: ${words.join(', ')}`)
      return word ?? otherwise
    },
  }
}

const HTTP_URL = z.url({ protocol: /^https?$/ })
const DAYS_MAX = 3_650
const DAYS = z.coerce.number().int().min(1).max(DAYS_MAX)
const PORT = z.coerce.number().int().min(0).max(65_535)
