import { digestOf } from '../../../packages/demo/src/samples/digests.ts'
import { RED_MAX } from '../../../src/projects/streaks.ts'
import { DIGEST_LINES_MAX } from '../../../src/projects/figures.ts'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Action } from '../../../src/domain/cards/request.ts'
import { ACCOUNT_STATUSES } from '../../../src/domain/builds/status.ts'
import { NOTICE_BUILDS_MAX, type BuildView, type View } from '../../../src/domain/cards/view.ts'
import type { Button } from '../../../src/slack/messages/blocks.ts'
import { toUuid } from '../../../src/domain/ids.ts'
import { ACTION_IDS } from '../../../src/slack/messages/ids.ts'
import { cut, MESSAGE_TEXT_CHARS_MAX } from '../../../src/slack/messages/limits.ts'
import { renderView } from '../../../src/alerts/messages/render.ts'
import { checkMessage } from '../../../packages/sandbox-slack/src/limits.ts'
import { ALL_MISSING, ALL_SHOWN, ALL_STAGES, ask, card, messageTs, notice, OLD_CARD, STREAK, reply } from './cast.ts'
import { anyText } from '../../support/any-text.ts'

const odd = fc.oneof(
  anyText({ maxLength: 60 }),
  fc.string({
    unit: fc.constantFrom('&', '<', '*', '_', ':', '`', '\n', '\u202e', '\ud800', 'א', '👩‍💻', ' '),
    maxLength: 600,
  }),
  fc.constantFrom(
    '',
    ' ',
    '&'.repeat(9_000),
    '<!channel>'.repeat(2_000),
    'e\u0301'.repeat(5_000),
    '\u0301'.repeat(5_000),
  ),
)
const url = fc.oneof(
  odd,
  fc.webUrl({ withQueryParameters: true }),
  fc.nat({ max: 4_000 }).map((length) => `https://ci.example/?${'&'.repeat(length)}`),
)
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null })
const build: fc.Arbitrary<BuildView> = fc.record({
  project: odd,
  buildId: odd,
  branch: maybe(odd),
  buildUrl: maybe(url),
  commitUrl: maybe(url),
  commit: maybe(odd),
  message: maybe(odd),
  committer: maybe(odd),
})
const shown = fc.constantFrom(...ALL_SHOWN.map((one) => one.shown))
const attemptNumber = fc.integer({ min: 1, max: 1_000 })
const at = fc.integer({ min: -1, max: Number.MAX_SAFE_INTEGER })
const durationMs = maybe(fc.nat())
const mention = maybe(fc.oneof(fc.constant('U0ADA'), odd))
const streak = maybe(fc.record({ forMs: fc.nat(), builds: fc.nat(), atLeast: fc.boolean() }))

const action = fc.constantFrom<Action>('stop', 'restart')
const request = {
  action,
  by: fc.oneof(fc.constant('U0ADA'), odd),
  stage: fc.constantFrom(...ALL_STAGES),
  code: maybe(fc.oneof(fc.constantFrom('not-found', 'unauthorized', 'timeout'), odd)),
}
const digits = fc.bigInt({ min: 0n, max: 10n ** 20n - 1n })
const ref = fc.tuple(digits, digits, attemptNumber).map(([project, id, n]) => `${project}/${id}.${n}`)

const anyView: fc.Arbitrary<View> = fc.oneof(
  fc.record({
    kind: fc.constant('card' as const),
    shown,
    word: odd,
    build,
    attemptNumber,
    history: fc.array(
      fc.record({ what: fc.constantFrom('started', 'waiting', 'ended', 'late', 'received', 'snapshot'), at }),
      {
        maxLength: 4,
      },
    ),
    durationMs,
    mention,
    claim: maybe(ref),
    proposed: mention,
    streak,
    replaces: maybe(fc.bigInt({ min: 0n, max: 10n ** 30n }).map((seconds) => messageTs(`${seconds}.1`))),
    ref,
    offers: fc.uniqueArray(action),
    missing: maybe(fc.record({ action, why: fc.constantFrom(...ALL_MISSING) })),
    unconfirmed: maybe(fc.uuid().map((uuid) => toUuid(uuid))),
    request: maybe(fc.record(request)),
  }),
  fc.record({
    kind: fc.constant('request' as const),
    ...request,
    buildId: odd,
    outcome: maybe(fc.record({ shown, buildId: odd, attemptNumber })),
  }),
  fc.record({
    kind: fc.constant('reply' as const),
    shown,
    build,
    attemptNumber,
    isLate: fc.boolean(),
    durationMs,
    mention,
    claim: maybe(ref),
    proposed: mention,
    broadcast: fc.boolean(),
    streak,
  }),
  fc.record({
    kind: fc.constant('notice' as const),
    day: odd,
    ignored: fc.nat(),
    blocked: fc.nat(),
    quota_exceeded: fc.nat(),
    builds: fc.array(
      fc.tuple(build, fc.constantFrom(...ACCOUNT_STATUSES)).map(([one, why]) => ({ ...one, shown: why })),
      { maxLength: NOTICE_BUILDS_MAX },
    ),
  }),
)

const RUNS = { numRuns: 300 }

describe('with any view', () => {
  test('the message is one that Slack accepts, both as a new post and as an edit', () => {
    const property = fc.property(anyView, fc.boolean(), (view, plain) => {
      const message = renderView(view, { plain })
      expect(checkMessage(message, { isUpdate: true })).toEqual([])
      expect(message.text.length).toBeLessThanOrEqual(MESSAGE_TEXT_CHARS_MAX)
    })
    fc.assert(property, RUNS)
  })

  test('the message mentions only the one user that the view names, and links only to http(s) addresses', () => {
    const property = fc.property(anyView, fc.boolean(), (view, plain) => {
      const markup = markupOf(renderView(view, { plain })).flatMap((text) => text.match(/<[^>]*>/g) ?? [])
      const allowed = /^<(?:https?:\/\/[^\s|<>]+\|[^|<>]*|!date\^\d+\^[^<>|]+\|[\d :-]+ UTC|@U0ADA)>$/
      for (const tag of markup)
        expect(tag.replace(/\|.*$/u, '|x>')).toMatch(tag.startsWith('<!') ? /^<!date/ : /^<[h@]/)
      for (const tag of markup.filter((one) => !one.startsWith('<http'))) expect(tag).toMatch(allowed)
    })
    fc.assert(property, RUNS)
  })

  test('each button has a known name, comes at most once, and carries its attempt', () => {
    const known: ReadonlySet<string> = new Set(Object.values(ACTION_IDS))
    fc.assert(
      fc.property(anyView, (view) => {
        const buttons = buttonsOf(renderView(view))
        const ids = buttons.map(({ action_id: id }) => id)
        for (const id of ids) expect(known).toContain(id)
        expect(new Set(ids).size).toBe(ids.length)
        for (const button of buttons)
          if ('value' in button)
            expect(view).toMatchObject({ [button.action_id === ACTION_IDS.claim ? 'claim' : 'ref']: button.value })
      }),
      RUNS,
    )
  })

  test('the text says something even if nothing is known', () => {
    fc.assert(
      fc.property(anyView, (view) => {
        const { text, blocks } = renderView(view)
        const [title] = blocks
        const seen = title?.type === 'section' ? title.text.text : text
        const said = view.kind === 'request' ? /^:[a-z_]+: (?:Stop|Restart) requested/u : /^:[a-z_]+: .*\*\S/u
        expect(seen).toMatch(said)
        expect(text).toMatch(/#|\*\S|requested/u)
      }),
      RUNS,
    )
  })
})

describe('in the worst case, with every field full of the text that grows most by escaping', () => {
  const amps = '&'.repeat(5_000)
  const worst: BuildView = {
    project: amps,
    buildId: amps,
    branch: amps,
    buildUrl: `https://ci.example/?${'a'.repeat(2_500)}`,
    commitUrl: `https://ci.example/?${'&'.repeat(400)}`,
    commit: amps,
    message: amps,
    committer: amps,
  }
  const LONGEST_REF = `${'9'.repeat(20)}/${'9'.repeat(20)}.${'9'.repeat(9)}`
  const shortLink = { ...worst, buildUrl: `https://ci.example/?${'&'.repeat(95)}` }
  const all = [worst, shortLink]

  test.each([
    [
      'cards',
      all.map((one) => card({ shown: 'unknown', word: amps, build: one, replaces: OLD_CARD, mention: 'U0ADA' })),
    ],
    [
      'cards with buttons',
      all.map((one) => card({ build: one, offers: ['stop', 'restart'], ref: LONGEST_REF, claim: LONGEST_REF })),
    ],
    [
      'asks',
      all.map((one) =>
        ask({ buildId: one.buildId, outcome: { shown: 'failed', buildId: `${one.buildId}2`, attemptNumber: 1_000 } }),
      ),
    ],
    [
      'replies',
      all.map((one) =>
        reply({ build: one, broadcast: true, streak: STREAK, mention: 'U0ADA', claim: LONGEST_REF, isLate: true }),
      ),
    ],
    ['notices', all.map((one) => noticeOf(one))],
  ])('%s stay within the limits', (_, views) => {
    for (const view of views)
      for (const plain of [false, true])
        for (const isUpdate of [false, true])
          expect(checkMessage(renderView(view, { plain }), { isUpdate })).toEqual([])
  })

  test('a digest can have blocks that are too long all together, and is then posted without them', () => {
    const [problem, ...others] = checkMessage(renderView(worstDigest()))
    expect([problem?.error, others]).toEqual(['msg_blocks_too_long', []])
    expect(checkMessage(renderView(worstDigest(), { plain: true }))).toEqual([])
  })

  test('a long list is split into more sections, and no build is left out', () => {
    const { attachments } = renderView(noticeOf(shortLink))
    const lines = JSON.stringify(attachments).split('•').length - 1
    expect(lines).toBe(NOTICE_BUILDS_MAX)
    expect(attachments[0]?.blocks.length).toBeGreaterThan(1)
  })

  /** A digest that lists as many branches as it can. */
  function worstDigest() {
    const some = <One>(count: number, figure: One) => ({
      shown: Array.from({ length: count }, () => ({ ...figure, project: amps, branch: amps })),
      more: 90,
    })
    const { red, redNow, flaky, slower } = digestOf()
    return digestOf({
      about: amps,
      red: some(DIGEST_LINES_MAX, red.shown[0]!),
      redNow: some(RED_MAX, redNow.shown[0]!),
      flaky: some(DIGEST_LINES_MAX, flaky.shown[0]!),
      slower: some(DIGEST_LINES_MAX, slower.shown[0]!),
    })
  }

  function noticeOf(one: BuildView) {
    const builds = Array.from({ length: NOTICE_BUILDS_MAX }, () => ({ ...one, shown: 'blocked' as const }))
    return notice({ ignored: 0, blocked: NOTICE_BUILDS_MAX, builds })
  }
})

const buttonsOf = ({ blocks, attachments }: ReturnType<typeof renderView>): Button[] =>
  [...blocks, ...attachments.flatMap((attachment) => attachment.blocks)].flatMap((block) => {
    if (block.type === 'actions') return block.elements
    return block.type === 'section' && block.accessory ? [block.accessory] : []
  })

function markupOf({ text, blocks, attachments }: ReturnType<typeof renderView>): string[] {
  const found = [text]
  JSON.stringify([blocks, attachments], (_, value: unknown) => {
    if (typeof value === 'object' && value !== null && 'verbatim' in value && 'text' in value)
      found.push(String(value.text))
    return value
  })
  return found
}

describe('cut', () => {
  test.each([
    ['keeps a text that fits', 'abc', 3, 'abc'],
    ['shows where it has cut', 'abcd', 3, 'ab…'],
    ['counts code points, not UTF-16 units', '😀😀😀', 3, '😀😀😀'],
    ['never splits a pair of UTF-16 units', '😀😀😀😀', 3, '😀😀…'],
    ['never separates a letter from its accent', 'abe\u0301d', 4, 'ab…'],
    ['never splits a composed emoji', 'a👩‍💻b', 3, 'a…'],
    ['cuts even a single letter that never ends', `e${'\u0301'.repeat(9)}`, 3, 'e\u0301…'],
  ])('%s', (_, text, max, expected) => {
    expect(cut(text, max)).toBe(expected)
  })
})
