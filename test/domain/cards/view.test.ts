import { describe, expect, it } from 'vitest'
import { noticeDay, noticeView, NOTICE_BUILDS_MAX } from '../../../src/domain/cards/view.ts'
import { attemptsOf } from '../../support/build-events.ts'

const refused = (count: number, word = 'ignored') =>
  Array.from({ length: count }, (_, i) => attemptsOf({ word, build: `${500 + i}`, branch: 'main' })[0]!)

describe('the day of a notice', () => {
  it.each([
    ['2026-03-02T00:00:00.000Z', '2026-03-02'],
    ['2026-03-02T23:59:59.999Z', '2026-03-02'],
    ['2026-03-03T00:00:00.000Z', '2026-03-03'],
    ['2026-03-02T23:30:00-05:00', '2026-03-03'],
    ['2024-02-29T12:00:00.000Z', '2024-02-29'],
  ])('of %s is %s, in UTC', (moment, day) => {
    expect(noticeDay(Date.parse(moment))).toBe(day)
  })
})

describe('the notice of a day', () => {
  it('counts and lists the builds that CI refused, in their order', () => {
    const [one] = attemptsOf({ word: 'ignored', build: '512', details: { projectName: 'web' } })
    const [two] = attemptsOf({ word: 'blocked', build: '511', project: '42', branch: null })
    expect(noticeView('2026-03-02', [one!, two!])).toMatchObject({
      kind: 'notice',
      day: '2026-03-02',
      ignored: 1,
      blocked: 1,
      builds: [
        { shown: 'ignored', project: 'web', buildId: '512', branch: 'main' },
        { shown: 'blocked', project: 'project 42', buildId: '511', branch: null },
      ],
    })
  })

  it.each([NOTICE_BUILDS_MAX, NOTICE_BUILDS_MAX + 1, 3 * NOTICE_BUILDS_MAX])(
    'counts all of %i builds and lists the first ones, at most NOTICE_BUILDS_MAX',
    (count) => {
      const { ignored, builds } = noticeView('2026-03-02', refused(count))
      expect(ignored).toBe(count)
      expect(builds).toHaveLength(NOTICE_BUILDS_MAX)
      expect(builds[0]!.buildId).toBe('500')
    },
  )

  it('counts builds of which only the number is known', () => {
    const attempts = [...refused(2), ...refused(1, 'blocked')]
    const counts = new Map([
      ['ignored', 9],
      ['Blocked', 5],
    ])
    expect(noticeView('2026-03-02', attempts, counts)).toMatchObject({ ignored: 9, blocked: 5 })
  })

  it('is empty on a day without such builds', () => {
    expect(noticeView('2026-03-02', [])).toEqual({
      kind: 'notice',
      day: '2026-03-02',
      ignored: 0,
      blocked: 0,
      quota_exceeded: 0,
      builds: [],
    })
  })

  it('grows during the day, and keeps the order of its list', () => {
    const attempts = refused(5)
    const [morning, evening] = [attempts.slice(0, 2), attempts].map((some) => noticeView('2026-03-02', some))
    expect(evening!.builds.slice(0, 2)).toEqual(morning!.builds)
  })
})
