import { describe, expect, it } from 'vitest'
import { filterInWords, filterOf, type BranchFilter } from '../../../src/domain/rules/pattern.ts'

const include = (...entries: string[]): BranchFilter => ({ mode: 'include', entries })
const exclude = (...entries: string[]): BranchFilter => ({ mode: 'exclude', entries })

describe('the filter of a project', () => {
  it.each<[claim: string, raw: Record<string, unknown>, filter: BranchFilter]>([
    ['as CI sends it', { branch_match: 'include', branches: ['main', '^v.*$'] }, include('main', '^v.*$')],
    ['missing', {}, { mode: null, entries: [] }],
    ['null', { branch_match: null, branches: null }, { mode: null, entries: [] }],
    [
      'with blank and odd entries',
      { branches: ['', ' ', null, {}, 12, 'main'] },
      { mode: null, entries: ['12', 'main'] },
    ],
    ['as a string', { branch_match: 'exclude', branches: 'main' }, exclude('main')],
    ['in an unknown form', { branch_match: {}, branches: { main: true } }, { mode: null, entries: [] }],
  ])('is read %s', (_, raw, filter) => {
    expect(filterOf(raw)).toEqual(filter)
  })

  it.each<[filter: BranchFilter, words: ReturnType<typeof filterInWords>]>([
    [include(), { kind: 'all' }],
    [{ mode: null, entries: [] }, { kind: 'all' }],
    [include('main'), { kind: 'only', entries: ['main'] }],
    [exclude('main'), { kind: 'not', entries: ['main'] }],
    [
      { mode: 'sometimes', entries: ['main'] },
      { kind: 'unclear', mode: 'sometimes', entries: ['main'] },
    ],
    [
      { mode: null, entries: ['main'] },
      { kind: 'unclear', mode: null, entries: ['main'] },
    ],
  ])('%j reads as %j', (filter, words) => {
    expect(filterInWords(filter)).toEqual(words)
  })
})
