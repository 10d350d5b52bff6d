import * as z from 'zod'

export type Environment = Readonly<Record<string, string | undefined>>

export type Reader = ReturnType<typeof createReader>

/** Reads variables one by one, and adds what is wrong to `faults`. An empty value counts as not set. */
export function createReader(environment: Environment, faults: string[]) {
  const text = (name: string): string | null => environment[name]?.trim() || null

  return {
    text,
    needed(name: string, why: string): string {
      const value = text(name)
      if (!value) faults.push(`${name} is not set: ${why}`)
      return value ?? ''
    },
    url(name: string): string | null {
      const value = text(name)
      if (!value) return null
      if (HTTP_URL.safeParse(value).success) return value
      faults.push(`${name} is no http(s) address`)
      return null
    },
    port(name: string): number | null {
      const value = text(name)
      if (!value) return null
      const port = PORT.safeParse(value)
      if (!port.success) faults.push(`${name} is no port: a number from 0 to 65535`)
      return port.data ?? null
    },
    days(name: string, otherwise: number): number {
      const value = text(name)
      if (!value) return otherwise
      const days = DAYS.safeParse(value)
      if (!days.success) faults.push(`${name} is no number of days: a whole number from 1 to ${DAYS_MAX}`)
      return days.data ?? otherwise
    },
    list: (name: string): readonly string[] =>
      (text(name) ?? '')
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    oneOf<Word extends string>(name: string, words: readonly Word[], otherwise: Word): Word {
      const value = text(name)?.toLowerCase() ?? otherwise
      const word = words.find((known) => known === value)
      if (!word) faults.push(`${name} is none of ${words.join(', ')}`)
      return word ?? otherwise
    },
  }
}

const HTTP_URL = z.url({ protocol: /^https?$/ })
const DAYS_MAX = 3_650
const DAYS = z.coerce.number().int().min(1).max(DAYS_MAX)
const PORT = z.coerce.number().int().min(0).max(65_535)
