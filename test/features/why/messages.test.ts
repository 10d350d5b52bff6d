import { describe, expect, it } from 'vitest'
import { BUILD_AT, buildOf, CAST, CHANNEL, REFERENCE } from '../../../packages/demo/src/samples/cast.ts'
import type { ChannelId } from '../../../src/domain/ids.ts'
import type { ChannelRule, RuleVerdict } from '../../../src/domain/rules/rule.ts'
import { answerWhy, RULES_LISTED_MAX, WHY_CHARS_MAX } from '../../../src/features/why/messages.ts'
import type { Explained } from '../../../src/features/why/why.ts'
import type { AnswerContext } from '../../../src/slack/messages/answer.ts'
import { BRANCH_CHARS_MAX } from '../../../src/slack/messages/limits.ts'
import { shownTexts } from '../../golden/answers-stage.ts'
import { messageTs } from '../../support/build-events.ts'

const asked: AnswerContext = { command: 'why', branch: 'main', reference: REFERENCE }

const ELSEWHERE: ChannelRule = { branch: 'elsewhere', branchMatch: null, events: 'every' }

describe('the answer to why', () => {
  const channelOf = (n: number) => `C0WHY${n}` as ChannelId
  const decision = (at: number, verdicts: readonly RuleVerdict[] = []): Explained => ({
    channel: channelOf(at),
    rawStatus: `word${at}`,
    at: BUILD_AT + at,
    branch: 'main',
    events: ['success', 'recovered'],
    verdict: 'silent',
    reason: 'late',
    rulesFrom: 'ci',
    ruleResults: verdicts.map((verdict) => ({ rule: ELSEWHERE, from: 'ci', verdict })),
    posted: [],
  })
  const textOf = (decisions: readonly Explained[], more = 0) =>
    JSON.stringify(answerWhy({ kind: 'why', build: buildOf(CAST), decisions, more, hidden: 0 }, asked).blocks)

  it('lists the newest decisions first, and counts the earlier ones', () => {
    const many = Array.from({ length: 20 }, (_, at) => decision(at))
    expect(textOf(many, 1)).toContain('… and 1 earlier')
    expect(textOf(many)).not.toContain('earlier')
    expect(textOf(many).indexOf('word19,')).toBeLessThan(textOf(many).indexOf('word18,'))
    expect(textOf(many)).toContain('word0,')
  })

  it('groups events with the same decision, the newest first, up to five', () => {
    const rule = { branch: null, branchMatch: null, events: ['failed'] } as const
    const ruleResults = [{ rule, from: 'ci', verdict: 'event-not-selected' }] as const
    const alike = (at: number, events: Explained['events']) => ({
      ...decision(at),
      channel: CHANNEL,
      ruleResults,
      events,
    })
    const two = textOf([alike(0, ['started']), decision(1), alike(2, ['success', 'recovered'])])
    expect(two).toMatch(/• <#\w+> \*not posted\*: word2, received [^;]+; word0, received [^;]+\. /)
    expect(two).toContain('success, recovered, started are not among failed')
    expect(two.match(/rule 1/g)).toHaveLength(1)
    expect(two.match(/•/g)).toHaveLength(2)
    const many = textOf(Array.from({ length: 7 }, (_, at) => alike(at, ['started'])))
    expect(many).toMatch(/word6, .*; word2, [^;]+; and 2 earlier\. /)
    expect(many).not.toContain('… and')
    const other = { ...alike(1, ['started']), verdict: 'update' } as const
    expect(textOf([alike(0, ['started']), other]).match(/•/g)).toHaveLength(2)
  })

  it('lists the verdicts of 8 rules, and counts the others', () => {
    const rules = (count: number) => textOf([decision(0, Array(count).fill('branch-not-matched'))])
    expect(rules(RULES_LISTED_MAX).match(/does not match `main`/g)).toHaveLength(RULES_LISTED_MAX)
    expect(rules(RULES_LISTED_MAX)).not.toContain(' more')
    expect(rules(RULES_LISTED_MAX + 1).match(/does not match `main`/g)).toHaveLength(RULES_LISTED_MAX)
    expect(rules(RULES_LISTED_MAX + 1)).toContain('… and 1 more')
  })

  it.each<[verdict: RuleVerdict, rule: ChannelRule, words: string]>([
    [
      'selects',
      { branch: null, branchMatch: null, events: ['failed', 'recovered'] },
      '*selects it*: ✓ any branch; ✓ event: *recovered*',
    ],
    [
      'selects',
      { branch: 'm*', branchMatch: null, events: 'every' },
      '*selects it*: ✓ branch: `m*` (wildcard) matches `main`; ✓ any event',
    ],
    [
      'event-not-selected',
      { branch: 'main', branchMatch: 'exact', events: ['failed'] },
      '*fails at its events*: ✓ branch: `main` (exact) matches `main`; ✗ event: success, recovered are not among failed',
    ],
    [
      'branch-not-matched',
      { branch: 'release/.+', branchMatch: 'regex', events: 'every' },
      '*fails at its branch*: ✗ branch: `release/.+` (regex) does not match `main`; its events were not checked',
    ],
    [
      'pattern-invalid',
      { branch: '(', branchMatch: 'regex', events: 'every' },
      '*fails at its branch*: ✗ branch: `(` (regex) is not a valid pattern and matches nothing; its events were not checked',
    ],
  ])('names each condition of a rule in order, up to the first that fails: %s', (verdict, rule, words) => {
    const explained = { ...decision(0), ruleResults: [{ rule, from: 'ci', verdict } as const] }
    expect(textOf([explained])).toContain(`rule 1 (the project's own, in CI) ${words}`)
  })

  it('says what a rule makes of a missing branch', () => {
    const rule = { branch: 'main', branchMatch: null, events: 'every' } as const
    const ruleResults = [{ rule, from: 'file', verdict: 'branch-unknown' }] as const
    expect(textOf([{ ...decision(0), branch: null, ruleResults }])).toContain(
      'rule 1 (in the subscriptions file) *fails at its branch*: ✗ branch: `main` (exact) needs a branch, but CI named none',
    )
  })

  it(`lists whole decisions up to ${WHY_CHARS_MAX} characters, and counts the others`, () => {
    /** A decision whose text is so many characters shorter than the longest. */
    const shorterBy = (chars: number): Explained => {
      const cut = Array.from({ length: RULES_LISTED_MAX }, (_, n) => Math.min(90, Math.max(0, chars - n * 90)))
      const rules = cut.map((less) => ({ branch: 'b'.repeat(BRANCH_CHARS_MAX - less), branchMatch: null, events: [] }))
      return { ...decision(0), ruleResults: rules.map((rule) => ({ rule, from: 'ci', verdict: 'event-not-selected' })) }
    }
    const lengthOf = (one: Explained): number =>
      shownTexts(answerWhy({ kind: 'why', build: buildOf(CAST), decisions: [one], more: 0, hidden: 0 }, asked))
        .join('\n')
        .split('\n')
        .slice(1)
        .join('\n').length
    const longest = lengthOf(shorterBy(0))
    const count = Math.ceil(WHY_CHARS_MAX / longest)
    const over = count * longest - WHY_CHARS_MAX
    const fitting = Array.from({ length: count }, (_, n) => ({
      ...shorterBy(Math.floor((over + n) / count)),
      channel: channelOf(n),
    }))
    expect(fitting.reduce((sum, one) => sum + lengthOf(one), 0)).toBe(WHY_CHARS_MAX)
    expect(textOf(fitting)).not.toContain('earlier')
    const tooLong = fitting.with(0, shorterBy(Math.floor(over / count) - 1))
    expect(textOf(tooLong)).toContain('… and 1 earlier')
  })

  it('says which messages exist, and since when', () => {
    const tsOf = (atMs: number) => messageTs(`${atMs / 1_000}.000100`)
    const [card, reply] = [tsOf(BUILD_AT), tsOf(BUILD_AT + 60_000)]
    const posted = [
      { slot: 'card', state: 'posted', ts: card },
      { slot: 'run:512.1', state: 'posted', ts: reply },
    ] as const
    const text = textOf([{ ...decision(0), verdict: 'post', posted }])
    expect(text).toMatch(
      /now: <https:[^|]+\|card> of <[^>]+14:09 UTC> · <https:[^|]+\|reply in the thread> of <[^>]+14:10 UTC>/,
    )
    expect(textOf([{ ...decision(0), verdict: 'post' }])).toContain('not posted yet')
    expect(textOf([decision(0)])).toContain('nothing was posted')
  })
})
