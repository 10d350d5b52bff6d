import { readdirSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { HOME_BLOCKS_MAX, homeView, type HomeView } from '../../src/features/home/view.ts'
import { COUNTED_MAX } from '../../src/features/home/home.ts'
import { checkView } from '../../packages/sandbox-slack/src/limits.ts'
import { ALL_CASTS, HOSTILE } from './answers-stage.ts'
import { HOMES, largeHome, many, memberHome } from '../features/home/home-states.ts'
import { isAnswered } from '../features/kit/stage.ts'
import { goldenText, goldenView, readGolden } from '../support/golden.ts'

const FOLDER = new URL('./home/', import.meta.url)

describe('every Home reads as its golden file shows', () => {
  test.each(HOMES)('%s', (name, when, view) => {
    const file = new URL(`${name}.json`, FOLDER)
    expect(golden(when, view)).toBe(readGolden(file, golden(when, view)))
  })

  test('no golden file is left over', () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual(HOMES.map(([name]) => `${name}.json`).toSorted())
  })
})

const golden = (when: string, view: HomeView): string => goldenText({ when, view: goldenView(view) })

const textsOf = (view: HomeView): string[] =>
  [...JSON.stringify(view).matchAll(/"text":"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => JSON.parse(`"${text}"`) as string)

describe.each(ALL_CASTS)('with names that are %s, a Home', (_, cast) => {
  it.each([
    ['of a member', memberHome(cast)],
    ['with 10,000 of everything', largeHome(cast)],
  ])('%s is valid for Slack, with fewer blocks than allowed', (__, state) => {
    const view = homeView(state)
    expect(checkView(view)).toEqual([])
    expect(view.blocks.length).toBeLessThan(HOME_BLOCKS_MAX)
  })
})

describe('a Home', () => {
  it('is the same whenever it is drawn from the same state', () => {
    expect(homeView(memberHome())).toEqual(homeView(structuredClone(memberHome())))
  })

  it('says how many items are left out, or that there may be more if they were not counted', () => {
    const red = memberHome().red.shown[0]!
    const shown = (more: number) =>
      textsOf(homeView({ ...memberHome(), red: { shown: many(red, 10), more } })).join('\n')
    expect(shown(0)).not.toContain('… and')
    expect(shown(COUNTED_MAX - 11)).toContain(`… and ${COUNTED_MAX - 11} more`)
    expect(shown(COUNTED_MAX - 11)).not.toContain('at least')
    expect(shown(COUNTED_MAX - 10)).toContain(`… and at least ${COUNTED_MAX - 10} more`)
  })

  it('has a handler for every button', () => {
    const ids = [...JSON.stringify(homeView(memberHome())).matchAll(/"action_id":"([^"]+)"/g)].map(([, id]) => id!)
    expect(new Set(ids)).toEqual(
      new Set(['breakage_own', 'build_restart', 'build_open', 'home_mentions']),
    )
    expect(ids.filter((id) => !isAnswered(id))).toEqual([])
  })

  it('escapes all text from outside', () => {
    const texts = textsOf(homeView(memberHome(HOSTILE))).join('\n')
    expect(texts).toContain('!channel')
    expect(texts).not.toMatch(/<!channel|<!here|<@U1|<#C1|<https:\/\/evil/)
  })
})
