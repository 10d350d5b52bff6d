import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyChange, type ProjectChange, differencesOf } from '../../../src/domain/ci-project/project-change.ts'
import { anySent } from '../support/sent-project.ts'

type Raw = Record<string, unknown>

const text = fc.string({ maxLength: 5 })
const place = fc.nat(4)
const anyRuleInput = fc.record({
  notifier: fc.constantFrom('slack', 'webhook', 'email', ''),
  target: fc.constantFrom('all', 'committer', null),
  branch: fc.option(text),
  branchMatch: fc.constantFrom('exact', 'wildcard', 'regex', null),
  events: fc.subarray(['started', 'failed', 'success', 'recovered']),
  options: fc.record({ key: fc.option(text), url: fc.option(text), room: fc.option(text) }, { requiredKeys: [] }),
})

const anyChange: fc.Arbitrary<ProjectChange> = fc.oneof(
  fc.record({
    what: fc.constant('builds'),
    onPullRequestsOnly: fc.boolean(),
    match: fc.constantFrom('include', 'exclude'),
    branches: fc.array(text, { maxLength: 3 }),
  }),
  fc.record({ what: fc.constant('setup'), commands: fc.array(text, { maxLength: 3 }) }),
  fc.record({
    what: fc.constant('variables'),
    variables: fc.array(fc.record({ name: text, value: fc.option(text) }), { maxLength: 3 }),
  }),
  fc.record({ what: fc.constant('teams'), ids: fc.array(fc.nat().map(String), { maxLength: 3 }) }),
  fc.record({ what: fc.constant('type'), type: fc.constantFrom('basic', 'pro') }),
  fc.record({ what: fc.constant('rule'), at: fc.option(place), rule: anyRuleInput }),
  fc.record({ what: fc.constant('remove-rule'), at: place }),
)

const FIELDS: Record<ProjectChange['what'], readonly string[]> = {
  builds: ['build_on_pr_only', 'branch_match', 'branches'],
  setup: ['setup_commands'],
  variables: ['environment_variables'],
  teams: ['team_ids'],
  type: ['type'],
  rule: ['notification_rules'],
  'remove-rule': ['notification_rules'],
}

const RULE_FIELDS = ['notifier', 'target', 'email_target', 'branch', 'branch_match', 'build_statuses', 'options']

const without = (raw: Raw, fields: readonly string[]): Raw =>
  Object.fromEntries(Object.entries(raw).filter(([name]) => !fields.includes(name)))

/** Checks every change against every project. */
function assertChanged(check: (before: Raw, after: Raw, change: ProjectChange) => void): void {
  fc.assert(
    fc.property(anySent, anyChange, (before, change) => {
      const effect = applyChange(before, change)
      if (effect.kind === 'changed') check(before, effect.raw, change)
      else expect(effect.faults.length).toBeGreaterThan(0)
    }),
    { numRuns: 200 },
  )
}

describe('any change', () => {
  it('changes its own fields and no other', () => {
    assertChanged((before, after, { what }) => {
      expect(without(after, FIELDS[what])).toEqual(without(before, FIELDS[what]))
    })
  })

  it('changes neither of its arguments', () => {
    fc.assert(
      fc.property(anySent, anyChange, (before, change) => {
        const copies = structuredClone([before, change])
        applyChange(before, change)
        expect([before, change]).toEqual(copies)
      }),
    )
  })

  it("of a rule keeps the other rules, and the rule's unknown fields", () => {
    assertChanged((before, after, change) => {
      if (change.what !== 'rule') return
      const [old, now] = [before, after].map((raw) => (raw['notification_rules'] ?? []) as Raw[])
      const at = change.at ?? old!.length
      expect(now!.toSpliced(at, 1)).toEqual(old!.toSpliced(at, 1))
      expect(without(now![at]!, RULE_FIELDS)).toEqual(without(old![at] ?? {}, RULE_FIELDS))
    })
  })

  it('makes differences only in its own fields', () => {
    assertChanged((before, after, { what }) => {
      const fields = differencesOf(before, after).map(({ field }) => field.split(/[.[]/)[0])
      expect(FIELDS[what]).toEqual(expect.arrayContaining(fields))
    })
  })

  it('makes no further difference the second time, unless it adds or removes', () => {
    assertChanged((_, after, change) => {
      if (change.what === 'remove-rule' || (change.what === 'rule' && change.at === null)) return
      const again = applyChange(after, change)
      if (change.what !== 'type') expect(again).toEqual({ kind: 'changed', raw: after })
      expect(again.kind).toBe('changed')
    })
  })
})
