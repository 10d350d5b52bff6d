import { describe, expect, it } from 'vitest'
import type { ChannelRule } from '../../../src/domain/rule.ts'
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

describe('rules in words', () => {
  it.each<[rules: ChannelRule[], words: string]>([
    [[], 'every event on every branch'],
    [[rule()], 'failed, recovered on `main`'],
    [[rule({ branch: null })], 'failed, recovered on every branch'],
    [[rule({ branch: '', events: 'every' })], 'every event on every branch'],
    [[rule({ branch: 'release/*', branchMatch: null })], 'failed, recovered on branches like `release/*`'],
    [[rule({ branch: '^v[0-9]+$', branchMatch: 'regex' })], 'failed, recovered on branches that match `^v[0-9]+$`'],
    [[rule({ branchMatch: 'fuzzy' })], 'failed, recovered on branches by `main` in a way that Buildline does not know'],
    [[rule({ events: [] })], 'no event on `main`'],
    [[rule(), rule({ branch: 'next', events: ['started'] })], 'failed, recovered on `main`; started on `next`'],
  ])('%j', (rules, words) => {
    expect(rulesInWords(rules)).toBe(words)
  })

  it(`are ${RULES_SHOWN_MAX} at most, and the others are counted`, () => {
    const many = (count: number) => rulesInWords(Array.from({ length: count }, () => rule()))
    expect(many(RULES_SHOWN_MAX)).not.toContain('more')
    expect(many(RULES_SHOWN_MAX + 1)).toMatch(/; and 1 more$/)
  })
})

describe('what a channel or a person is told', () => {
  const hostile = followed('<!channel> *x*', [rule({ branch: '`<@U1>`', events: ['<!here>'] })])

  it('mentions nobody but who did it, whatever projects, branches and events are called', () => {
    const lines = [
      subscribedLine('U0ADA00001', hostile, hostile),
      unsubscribedLine('U0ADA00001', [hostile]),
      closedLine({ channel: 'C0WEB00001', code: '<!channel>', followed: [hostile] }),
    ]
    for (const line of lines) expect(line.replaceAll(/<@U0ADA00001>|<#C0WEB00001>/g, '')).not.toMatch(/<[!@#]/)
  })

  it('names somebody where Slack named no usable person', () => {
    expect(subscribedLine('<!channel>', followed(), null)).toMatch(/^:bell: Somebody subscribed /)
  })

  it('says what is quiet and who is mentioned only where it is out of the ordinary', () => {
    expect(followedHow(followed())).toBe('failed, recovered on `main`')
    expect(followedHow({ ...followed(), rules: null, quiet: true, mention: 'nobody' })).toBe(
      "the project's own rules; quiet; mentions nobody",
    )
  })

  it('names the first few of many that are gone', () => {
    const gone = Array.from({ length: 7 }, (_, n) => followed(`acme/p${n}`))
    expect(unsubscribedLine('U0ADA00001', gone)).toContain('and 2 more.')
  })
})
