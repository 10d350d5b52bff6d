import { describe, expect, it } from 'vitest'
import { answerDryRun, DRY_CHANNELS_MAX } from '../../../src/features/subscriptions/dry-run-messages.ts'
import { answerRules, RULES_SHOWN_MAX } from '../../../src/features/subscriptions/rules-messages.ts'
import { CAST, REFERENCE } from '../../../packages/demo/src/samples/cast.ts'
import { dryRuns, rulings } from '../../../packages/demo/src/samples/rules.ts'
import { unsubscribes } from '../../../packages/demo/src/samples/subscriptions.ts'
import { answerUnsubscribe, SHOWN_MAX } from '../../../src/features/subscriptions/messages.ts'
import { SUBSCRIPTIONS_MAX } from '../../../src/features/subscriptions/subscribe.ts'
import { parseChoice } from '../../../src/features/kit/values.ts'
import { SUBSCRIPTION_ACTION_IDS } from '../../../src/slack/messages/ids.ts'
import { checkMessage } from '../../../packages/sandbox-slack/src/limits.ts'
import { buttonsOf, HOSTILE, LONG, valueOf } from '../../golden/answers-stage.ts'

const asked = { command: 'rules', branch: null, rest: ['main', 'failed'], reference: REFERENCE } as const
const idsOf = (answer: Parameters<typeof buttonsOf>[0]) => buttonsOf(answer).map(({ action_id: id }) => id)
const { add, change, remove } = SUBSCRIPTION_ACTION_IDS

describe('the subscriptions of a channel', () => {
  const [, own] = rulings(CAST).rules
  const shown = own!.outcome.subscriptions[0]!
  const rulesWith = (count: number) =>
    answerRules({
      ...own!.outcome,
      subscriptions: Array.from({ length: count }, (_, n) => ({
        ...shown,
        subscription: { ...shown.subscription, id: String(n) },
      })),
    })

  it(`have buttons up to ${RULES_SHOWN_MAX} of them; the others are named, and all fit into one message`, () => {
    expect(rulesWith(RULES_SHOWN_MAX).text).not.toContain('more')
    const all = rulesWith(SUBSCRIPTIONS_MAX)
    expect(idsOf(all)).toEqual([...Array.from({ length: RULES_SHOWN_MAX }, () => [change, remove]).flat(), add])
    expect(all.text).toContain(`… and ${SUBSCRIPTIONS_MAX - RULES_SHOWN_MAX} more`)
    const { text, blocks } = all
    expect(checkMessage({ text, blocks }, { isUpdate: true })).toEqual([])
  })

  it('say which counts if several cover one project', () => {
    const all = { ...shown, subscription: { ...shown.subscription, follows: { what: 'all' } as const } }
    const said = (...subscriptions: (typeof shown)[]) => answerRules({ ...own!.outcome, subscriptions }).text
    expect(said(shown)).not.toMatch(/count together|rule of its own/)
    expect(said(shown, shown)).toContain('Several rules for one project count together')
    expect(said(shown, all)).toContain('A project with a rule of its own follows only that one')
  })

  it('have buttons only if they were made in Slack', () => {
    const kept = rulings(CAST).rules.find(({ when }) => when.startsWith('the file'))!
    expect(idsOf(answerRules(kept.outcome))).toEqual([add])
  })
})

describe('a choice of what to remove', () => {
  it(`lists ${SHOWN_MAX}, and counts the others`, () => {
    const [one] = unsubscribes(CAST).which
    const whichOf = (count: number) => {
      const here = Array.from({ length: count }, () => one.outcome.here[0]!)
      return answerUnsubscribe({ kind: 'which', here }, { ...asked, command: 'unsubscribe' })
    }
    expect(whichOf(SHOWN_MAX).text).not.toContain('more')
    expect(idsOf(whichOf(SHOWN_MAX))).toHaveLength(SHOWN_MAX)
    expect(whichOf(SHOWN_MAX + 1).text).toContain('… and 1 more.')
  })
})

describe('a dry run', () => {
  const [one] = dryRuns(CAST)['dry-run']
  const [failed] = one.outcome.events
  const withChannels = (count: number) => {
    const channels = Array.from({ length: count }, () => failed!.channels[0]!)
    return answerDryRun({ ...one.outcome, events: [{ event: 'failed', channels }] }, asked)
  }

  it(`lists ${DRY_CHANNELS_MAX} channels for an event, and counts the others`, () => {
    expect(withChannels(DRY_CHANNELS_MAX).text).not.toContain('more channel')
    expect(withChannels(DRY_CHANNELS_MAX + 1).text).toContain('… and 1 more channel')
    expect(withChannels(DRY_CHANNELS_MAX + 2).text).toContain('… and 2 more channels')
  })

  it('groups events with the same result', () => {
    expect(answerDryRun(one.outcome, asked).text).toContain('*started, waiting*')
  })

  it('is valid for Slack with all events, many channels and the longest names', () => {
    for (const cast of [HOSTILE, LONG]) {
      const { outcome } = dryRuns(cast)['dry-run'][0]
      const channels = Array.from({ length: DRY_CHANNELS_MAX }, () => outcome.events[0]!.channels[0]!)
      const events = Array.from({ length: 6 }, (_, n) => ({ event: `e${n}`, channels: channels.slice(n) }))
      const { text, blocks } = answerDryRun({ ...outcome, events }, asked)
      expect(checkMessage({ text, blocks }, { isUpdate: true })).toEqual([])
    }
  })

  it('of an ambiguous name is repeated with the branch and the event', () => {
    const [several] = dryRuns(CAST)['several-projects']
    const [button] = buttonsOf(answerDryRun(several.outcome, asked))
    expect(parseChoice(valueOf(button))).toMatchObject({ command: 'rules', project: '41', rest: ['main', 'failed'] })
    expect(answerDryRun(dryRuns(CAST)['no-project'][1]!.outcome, asked).text).toContain(
      'type `/ci rules test acme/web main failed`',
    )
  })
})
