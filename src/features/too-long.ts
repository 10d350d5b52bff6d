import { METADATA_CHARS_MAX } from './modal-view.ts'

/** What does not fit into a form is refused: it is kept nowhere else. @param excess by so many characters */
export const tooLongWords = (excess: number): string =>
  `too long: a form carries ${METADATA_CHARS_MAX.toLocaleString('en')} characters at most, packed, and this is about ${excess} over; change it in parts, or in CI itself`
