import { patternMode } from '../../domain/pattern.ts'
import type { ChannelRule, RuleVerdict } from '../../domain/rule.ts'
import { codeSpan, toLine } from '../../lib/escape.ts'
import { outside } from '../../slack/messages/build.ts'
import { BRANCH_CHARS_MAX, cut, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { eventsInWords } from '../../slack/messages/subscription.ts'
import type { Explained, KeptLook } from '../../catalog/outcomes.ts'

type About = Pick<Explained, 'branch' | 'events'>

/** Whose rule it is, each of its conditions in their order, and the first that failed. Markup. */
export function lookedWords({ rule, from, verdict }: KeptLook, about: About): string {
  const whose = from === null ? '' : ` (${FROM[from]})`
  if (!isVerdict(verdict)) return `${whose} ended with ${outside(verdict, WORD_CHARS_MAX) || '(none)'}`
  if (rule === null) return `${whose} ${OLD[verdict]}; an older version decided, and did not keep the rule`
  return `${whose} ${ENDED[verdict]}: ${branchWords(rule, verdict, about)}; ${eventWords(rule, verdict, about)}`
}

const FROM = {
  ci: "the project's own, in CI",
  channel: "the channel's own",
  file: 'of the file of subscriptions',
} as const

const isVerdict = (verdict: string): verdict is RuleVerdict => Object.hasOwn(ENDED, verdict)

const ENDED: Record<RuleVerdict, string> = {
  selects: '*selects it*',
  'branch-not-matched': '*fails at its branch*',
  'branch-unknown': '*fails at its branch*',
  'pattern-invalid': '*fails at its branch*',
  'event-not-selected': '*fails at its events*',
}

const OLD: Record<RuleVerdict, string> = {
  selects: 'selects it',
  'branch-not-matched': 'does not cover this branch',
  'branch-unknown': 'asks for a branch, and CI named none',
  'pattern-invalid': 'has an invalid branch pattern, which matches nothing',
  'event-not-selected': 'covers the branch, but does not select this event',
}

/** ``✓ branch: `release/*` (wildcard) matches `release/1` `` */
function branchWords({ branch: pattern, branchMatch }: ChannelRule, verdict: RuleVerdict, { branch }: About): string {
  if (pattern === null || pattern === '') return '✓ branch: every one'
  const mode = outside(patternMode(pattern, branchMatch), WORD_CHARS_MAX)
  const asked = `${name(pattern)} (${mode})`
  const own = branch === null ? 'a build without a branch' : name(branch)
  switch (verdict) {
    case 'branch-not-matched':
      return `✗ branch: ${asked} does not match ${own}`
    case 'branch-unknown':
      return `✗ branch: ${asked} asks for one, and CI named none`
    case 'pattern-invalid':
      return `✗ branch: ${asked} is no valid pattern, and matches nothing`
    case 'selects':
    case 'event-not-selected':
      return `✓ branch: ${asked} matches ${own}`
  }
}

const name = (text: string): string => codeSpan(cut(toLine(text), BRANCH_CHARS_MAX)) || '(no name)'

/** `✗ event: failed, recovered has no success` */
function eventWords({ events }: ChannelRule, verdict: RuleVerdict, about: About): string {
  switch (verdict) {
    case 'selects':
      return `✓ event: ${eventsInWords(events)} has ${selectedOf(events, about).join(', ')}`
    case 'event-not-selected':
      return `✗ event: ${eventsInWords(events)} has no ${about.events.join(', no ')}`
    case 'branch-not-matched':
    case 'branch-unknown':
    case 'pattern-invalid':
      return 'its events were not looked at'
  }
}

const selectedOf = (events: ChannelRule['events'], about: About): readonly string[] =>
  events === 'every' ? about.events : about.events.filter((event) => events.includes(event))
