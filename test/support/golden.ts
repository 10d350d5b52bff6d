import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { expand, shorten, shortMessage, wholeMessage } from '../../packages/demo/src/gallery/short.ts'

/** A value that fits into one line is printed on one line. */
const LINE_CHARS_MAX = 200

/**
 * The text of a golden file: JSON with one line for each block, button or list that fits. Invisible characters are
 * escaped, since people read these files.
 */
export const goldenText = (value: unknown): string =>
  `${print(JSON.parse(JSON.stringify(value)), '').replace(/[\p{Cf}]/gu, (mark) => `\\u${mark.codePointAt(0)!.toString(16).padStart(4, '0')}`)}\n`

/** The short form of a message in golden files. Checks that nothing is lost. */
export function goldenMessage(message: {
  text: string
  plain?: string
  blocks?: object
  attachments?: object
}): object {
  const { text, plain = text, blocks = [], attachments = [] } = message
  const whole = JSON.parse(JSON.stringify({ text, plain, blocks, attachments }))
  const short = shortMessage(whole)
  expect(wholeMessage(short)).toEqual(whole)
  return short
}

/** The short form of a form or a Home in golden files. Checks that nothing is lost. */
export function goldenView(view: object): unknown {
  const whole = JSON.parse(JSON.stringify(view))
  const short = shorten(whole)
  expect(expand(short)).toEqual(whole)
  return short
}

/** Reads a golden file; with `UPDATE_GOLDEN=1`, writes it first. */
export function readGolden(file: URL, now: string): string {
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, now)
  return readFileSync(file, 'utf8')
}

function print(value: unknown, indent: string): string {
  const line = onOneLine(value)
  if (typeof value !== 'object' || value === null || indent.length + line.length <= LINE_CHARS_MAX) return line
  const deeper = `${indent}  `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const parts = Array.isArray(value)
    ? value.map((one) => print(one, deeper))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${print(one, deeper)}`)
  return `${open}\n${parts.map((part) => deeper + part).join(',\n')}\n${indent}${close}`
}

function onOneLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`
  const parts = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${onOneLine(one)}`)
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}
