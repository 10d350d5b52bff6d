import { describe, expect, test } from 'vitest'
import { hear, openStage, type Process, type Stage } from '../operations-stage.ts'
import { readPng } from '../../slack/picture/png.ts'
import { findBadge, type BadgeOutcome } from '../../../src/features/badge/badge.ts'

const badgeIn = ({ deps }: Process, about: Parameters<typeof findBadge>[1]) =>
  deps.orAskCi(() => findBadge(deps, about))

const badge = (stage: Stage, branch: string | null = null, project = 'web') => badgeIn(stage.main, { project, branch })

const isBadge = (outcome: BadgeOutcome): Extract<BadgeOutcome, { kind: 'badge' }> => {
  if (outcome.kind !== 'badge') throw new Error(outcome.kind)
  return outcome
}

describe('the badge', () => {
  test('says the state in words, with a picture and Markdown to copy', async () => {
    await using stage = await openStage()
    await stage.ended('error')
    const { uuid } = stage.ci.state().projects[0]!
    const url = `${stage.ci.url}/projects/${uuid}/status?branch=main`
    const outcome = isBadge(await badge(stage, 'main'))
    expect(outcome).toMatchObject({ found: 'yes', words: 'build: failing', failure: null, branch: 'main' })
    expect(outcome.markdown).toBe(`![acme/web main build status](<${url}>)`)
    const { width, height } = readPng(outcome.picture!)
    expect(width).toBeGreaterThan(height)
  })

  test('without a branch is of the newest build', async () => {
    await using stage = await openStage()
    await stage.ended('success')
    const outcome = isBadge(await badge(stage))
    expect(outcome).toMatchObject({ words: 'build: passing', branch: null })
    expect(outcome.markdown).toMatch(/^!\[acme\/web build status\]\(<[^?]*>\)$/)
  })

  test('for a branch without builds says so', async () => {
    await using stage = await openStage()
    expect(await badge(stage, 'nowhere')).toMatchObject({ found: 'no-branch', failure: null })
  })

  test.each([404, 200] as const)('for a project unknown to CI says so (answer %i)', async (badgeUnknownProject) => {
    await using stage = await openStage({ switches: { badgeUnknownProject } })
    stage.reconcile.sql("update project set uuid = 'f0000000-0000-0000-0000-000000000077' where name = 'acme/web'")
    expect(await badge(stage)).toMatchObject({ kind: 'badge', found: 'no-project' })
  })

  test("says the state of the last build if the badge's words cannot be read", async () => {
    await using stage = await openStage()
    await stage.ended('error')
    const silent = {
      urlOf: () => stage.ci.url,
      fetchBadge: async () => ({ contentType: 'image/svg+xml', bytes: new Uint8Array(), words: null }),
    }
    const bot = stage.another({ badges: silent })
    expect(await badgeIn(bot, { project: 'web', branch: 'main' })).toMatchObject({ words: 'last build: error' })
    expect(await badgeIn(bot, { project: 'web', branch: 'nowhere' })).toMatchObject({ words: null })
  })

  test('is shown as it is if CI draws it as PNG or GIF, but not if the type is a lie', async () => {
    await using stage = await openStage()
    const gif = new TextEncoder().encode('GIF89a and so on')
    const badgeOf = (bytes: Uint8Array) => {
      const fetchBadge = async () => ({ contentType: 'image/gif', bytes, words: 'success' })
      const drawn = { urlOf: () => stage.ci.url, fetchBadge }
      return badgeIn(stage.another({ badges: drawn }), { project: 'web', branch: null })
    }
    const shown = isBadge(await badgeOf(gif))
    expect(shown.picture).toEqual(gif)
    expect(shown).toMatchObject({ words: 'success', found: 'yes' })
    expect(isBadge(await badgeOf(new TextEncoder().encode('<html>'))).picture).toBeNull()
  })

  test('does not exist without a site', async () => {
    await using stage = await openStage()
    const bot = stage.another({ badges: null })
    expect(await badgeIn(bot, { project: 'web', branch: null })).toEqual({ kind: 'no-site' })
  })

  test('does not exist for a project without a known uuid', async () => {
    await using stage = await openStage()
    const { store, clock } = stage.main.deps
    const build = { project_id: 91, build_id: 1, status: 'initiated', project_full_name: 'acme/docs' }
    await hear({ store, clock }, JSON.stringify({ build }))
    await stage.deliver()
    expect(await badge(stage, null, 'docs')).toMatchObject({ kind: 'no-uuid', project: { name: 'acme/docs' } })
  })

  test('without a known project is a question', async () => {
    await using stage = await openStage()
    expect((await badge(stage, null, 'acme')).kind).toBe('several-projects')
    expect(await badge(stage, null, 'wbe')).toEqual({
      kind: 'no-project',
      text: 'wbe',
      nearest: 'acme/web',
      isListRead: true,
    })
  })

  test.each([
    ['a 503', { kind: 'status', statusCode: 503 } as const, 'server'],
    ['no answer', { kind: 'hang' } as const, 'timeout'],
    ['a closed connection', { kind: 'down' } as const, 'unreachable'],
    ['an invalid picture', { kind: 'garbage' } as const, 'shape'],
  ])('still gives the Markdown to copy if CI answers with %s', async (_, fault, code) => {
    await using stage = await openStage()
    stage.ci.addFault({ ...fault, where: 'site' })
    const outcome = isBadge(await badge(stage, 'main'))
    expect(outcome).toMatchObject({ words: null, found: 'unknown', picture: null, failure: { code } })
    expect(outcome.markdown).toContain('branch=main')
  })

  test('still says the state if the picture cannot be drawn', async () => {
    await using stage = await openStage()
    await stage.ended('success')
    const bot = stage.another({ draw: async () => null })
    expect(await badgeIn(bot, { project: 'web', branch: 'main' })).toMatchObject({
      words: 'build: passing',
      found: 'yes',
      picture: null,
    })
  })
})

describe('the copied text shows the badge of a branch called', () => {
  const BRANCHES = [
    'feature/a b',
    'fix&b=1?c#d+e%2F',
    'a"b\'c',
    '<script>alert(1)</script>',
    '![x](http://evil.example)',
    'a](http://evil.example) [b',
    'back\\slash`tick`_under_*star*',
    'a)b(c',
    '<!channel>',
    'zeile\nzwei\ttab',
    'ünïcode/ブランチ',
    '|table|',
    "'--><img src=x onerror=alert(1)>",
  ]

  test.each(BRANCHES)('%j', async (branch) => {
    await using stage = await openStage()
    await stage.ended('success', { branch })
    const outcome = isBadge(await badge(stage, branch))
    expect(outcome).toMatchObject({ words: 'build: passing', found: 'yes' })
    // One image: every character that could start or end other markup is escaped.
    const markdown = /^!\[((?:\\[\x21-\x7e]|[^\\[\]`*_<>&!|\n])*)\]\(<([^<>\\\n]*)>\)$/.exec(outcome.markdown)
    expect(new URL(markdown![2]!).searchParams.get('branch')).toBe(branch)
    expect(markdown![1]!.replace(/\\(.)/g, '$1')).toBe(`acme/web ${branch} build status`.replace(/\s+/g, ' '))
  })
})
