import { describe, expect, it } from 'vitest'
import type { ChannelRule } from '../../../src/domain/rules/rule.ts'
import {
  closedLine,
  followedHow,
  rulesInWords,
  RULES_SHOWN_MAX,
  subscribedLine,
  unsubscribedLine,
} from '../../../src/slack/messages/subscription.ts'

const rule = (change: Partial<ChannelRule> = {}): ChannelRule => ({
  branch: 'main',
  branchMatch: 'exact',
  events: ['failed', 'recovered'],
  ...change,
})
const followed = (name = 'acme/web', rules: ChannelRule[] | null = [rule()]) =>
  ({ follows: { what: 'project', name }, rules, quiet: false, mention: 'committer' }) as const

describe('rulesInWords', () => {
  it.each<[rules: ChannelRule[], words: string]>([
    [[], 'every event on every branch'],
    [[rule()], 'failed, recovered on `main`'],
    [[rule({ branch: null })], 'failed, recovered on every branch'],
    [[rule({ branch: '', events: 'every' })], 'every event on every branch'],
    [[rule({ branch: 'release/*', branchMatch: null })], 'failed, recovered on branches like `release/*`'],
    [[rule({ branch: '^v[0-9]+$', branchMatch: 'regex' })], 'failed, recovered on branches that match `^v[0-9]+$`'],
    [
      [rule({ branchMatch: 'fuzzy' })],
      'failed, recovered on branches that match `main` in a mode that Buildline does not know',
    ],
    [[rule({ events: [] })], 'no event on `main`'],
    [[rule(), rule({ branch: 'next', events: ['started'] })], 'failed, recovered on `main`; started on `next`'],
  ])('describes %j', (rules, words) => {
    expect(rulesInWords(rules)).toBe(words)
  })

  it(`shows at most ${RULES_SHOWN_MAX} rules, and counts the others`, () => {
    const many = (count: number) => rulesInWords(Array.from({ length: count }, () => rule()))
    expect(many(RULES_SHOWN_MAX)).not.toContain('more')
    expect(many(RULES_SHOWN_MAX + 1)).toMatch(/; and 1 more$/)
  })
})

describe('a line about subscriptions', () => {
  const hostile = followed('<!channel> *x*', [rule({ branch: '`<@U1>`', events: ['<!here>'] })])

  it('mentions only the person who acted, whatever names the projects, branches and events have', () => {
    const lines = [
      subscribedLine('U0ADA00001', hostile, hostile),
      unsubscribedLine('U0ADA00001', [hostile]),
      closedLine({ channel: 'C0WEB00001', code: '<!channel>', followed: [hostile] }),
    ]
    for (const line of lines) expect(line.replaceAll(/<@U0ADA00001>|<#C0WEB00001>/g, '')).not.toMatch(/<[!@#]/)
  })

  it('names Somebody if Slack gave no usable user', () => {
    expect(subscribedLine('<!channel>', followed(), null)).toMatch(/^:bell: Somebody subscribed /)
  })

  it('says that a subscription is quiet or whom it mentions only if it differs from the default', () => {
    expect(followedHow(followed())).toBe('failed, recovered on `main`')
    expect(followedHow({ ...followed(), rules: null, quiet: true, mention: 'nobody' })).toBe(
      "the project's own rules; quiet; mentions nobody",
    )
  })

  it('names only the first few of many subscriptions that have been removed', () => {
    const gone = Array.from({ length: 7 }, (_, n) => followed(`acme/p${n}`))
    expect(unsubscribedLine('U0ADA00001', gone)).toContain('and 2 more.')
  })
})
