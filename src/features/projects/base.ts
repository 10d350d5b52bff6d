import { createHmac } from 'node:crypto'
import { isNullish } from '../../lib/raw-values.ts'
import { ANSWER_ONLY, canonicalField } from '../../domain/ci-project/project-fields.ts'
import type { ProjectBase } from './outcomes.ts'

/** At most this many fields have their own digest. All other fields that CI sends share one. */
export const BASE_FIELDS_MAX = 30
/** The longest name of a field with its own digest, in characters of JSON: a form has to carry all of them. */
export const BASE_NAME_CHARS_MAX = 40

/** The name of the shared digest. */
export const OTHER_FIELDS = '…'

const DIGEST_CHARS = 8

type Raw = Readonly<Record<string, unknown>>

/** A digest of each field that an update can set. Equal for values that mean the same. */
export function baseOf(raw: Raw, key: string): ProjectBase {
  const names = Object.keys(raw).filter((name) => !ANSWER_ONLY.has(name) && !isNullish(raw[name]))
  const sorted = names.sort()
  const own = sorted.filter((name) => charsOf(name) <= BASE_NAME_CHARS_MAX).slice(0, BASE_FIELDS_MAX)
  const others = sorted.filter((name) => !own.includes(name))
  return Object.fromEntries([
    ...own.map((name) => [name, fieldDigest(name, raw[name], key)] as const),
    ...(others.length === 0 ? [] : [[OTHER_FIELDS, fieldDigest('', pick(raw, others), key)] as const]),
  ])
}

const charsOf = (name: string): number => JSON.stringify(name).length - QUOTES

const QUOTES = 2

/** The names of the fields that have changed. */
export function changedSince(base: ProjectBase, now: ProjectBase): string[] {
  const names = new Set([...Object.keys(base), ...Object.keys(now)])
  return [...names].filter((name) => base[name] !== now[name]).sort()
}

/** A short digest of a value. @param name the field's name, which decides whether the order of its items matters */
export const fieldDigest = (name: string, value: unknown, key: string): string =>
  createHmac('sha256', key)
    .update(`${name}:${canonicalField(name, value)}`)
    .digest('base64url')
    .slice(0, DIGEST_CHARS)

const pick = (raw: Raw, names: readonly string[]): Raw => Object.fromEntries(names.map((name) => [name, raw[name]]))
