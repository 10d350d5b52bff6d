import { codeSpan, toLine } from '../../lib/escape.ts'
import { cut } from './limits.ts'

/** What somebody typed, or could type: as code, where nothing is read as markup. */
export const typed = (text: string): string => codeSpan(cut(toLine(text), TYPED_CHARS_MAX)) || '(nothing)'

/** How much of it is shown, in code points. */
export const TYPED_CHARS_MAX = 150
