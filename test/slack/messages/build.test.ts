import { expect, test } from 'vitest'
import { ENTRIES_SHOWN_MAX, filterWords } from '../../../src/slack/messages/build.ts'

test(`of a branch filter ${ENTRIES_SHOWN_MAX} entries are named, and the others are counted`, () => {
  const withEntries = (count: number) =>
    filterWords({ kind: 'only', entries: Array.from({ length: count }, (_, n) => `branch-${n}`) })
  expect(withEntries(ENTRIES_SHOWN_MAX)).not.toContain('more')
  expect(withEntries(ENTRIES_SHOWN_MAX + 1)).toContain('and 1 more')
})
