import { z } from 'zod'
import { LIST_ITEMS_MAX } from './check-filter.ts'
import { LINE_CHARS_MAX } from './check-rule.ts'

// The values of a request, each with its limit and, where it is another, words for it that quote nothing.

/** The longest command or value that is sent, in characters. */
export const TEXT_CHARS_MAX = 10_000

const must = (reason: string) => ({
  error: ({ input }: { input?: unknown }) => (input === undefined ? 'is required' : reason),
})

const textUpTo = (charsMax: number) =>
  z.string(must('must be text')).max(charsMax, `has more than ${charsMax} characters`)

/** A command or a value, which may be empty. */
export const text = textUpTo(TEXT_CHARS_MAX)

/** A text of one line, which may be empty. */
export const line = textUpTo(LINE_CHARS_MAX)

/** A name: a line that is not blank. */
export const named = line.refine((name) => name.trim() !== '', 'is empty')

export const flag = z.boolean(must('must be true or false'))

export const number = z.number(must('must be a number'))

export const oneOf = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, must(`must be one of ${words.join(', ')}`))

export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.array(item, must('must be a list')).max(LIST_ITEMS_MAX, `has more than ${LIST_ITEMS_MAX} entries`)

export const objectOf = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape, must('must be an object'))
