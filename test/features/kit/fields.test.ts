import { describe, expect, it } from 'vitest'
import { OPTION_VALUE_CHARS_MAX, OPTIONS_MAX, projectOptions } from '../../../src/features/kit/fields.ts'

describe('the options of a menu of projects', () => {
  const named = (name: string) => ({ projectId: null, uuid: null, type: 'basic', name })

  it(`are at most ${OPTIONS_MAX}`, () => {
    const many = Array.from({ length: OPTIONS_MAX + 1 }, (_, at) => named(`acme/${at}`))
    expect(projectOptions(many)).toHaveLength(OPTIONS_MAX)
  })

  it('leave out names that are too long for a value', () => {
    expect(projectOptions([named('x'.repeat(OPTION_VALUE_CHARS_MAX))])).toHaveLength(1)
    expect(projectOptions([named('x'.repeat(OPTION_VALUE_CHARS_MAX + 1))])).toEqual([])
  })
})
