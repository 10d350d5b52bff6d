import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import type { Config } from '../../src/config/config.ts'

const SETTINGS = {
  SLACK_BOT_TOKEN: 'xoxb-1',
  SLACK_SIGNING_SECRET: 'signing',
  WEBHOOK_SECRET: 'the-secret-of-the-door',
  SUBSCRIPTIONS_FILE: 's.yml',
}

const read = (text: string) => readConfig(SETTINGS, () => text)

function configOf(text: string): Config {
  const reading = read(text)
  if (reading.kind === 'faults') throw new Error(reading.faults.join('\n'))
  return reading.config
}

function faultsOf(text: string): readonly string[] {
  const reading = read(text)
  return reading.kind === 'faults' ? reading.faults : []
}

describe('a pattern in a subscriptions file', () => {
  const withBranch = (rest: string) => `subscriptions:\n  - { channel: C0BUILDS01, project: all, ${rest} }\n`

  it.each([
    ["branch: '(', branch_match: regex", 'subscriptions[0].branch: is not a valid pattern'],
    ["branch: '(a{500}){5}', branch_match: regex", 'subscriptions[0].branch: is not a valid pattern'],
    ['branch_match: regex', 'subscriptions[0].branch_match: says how to match'],
  ])('is a fault if it could never match: %s', (rest, fault) => {
    expect(faultsOf(withBranch(rest)).join()).toContain(fault)
  })

  it('is no fault if it is valid', () => {
    expect(faultsOf(withBranch("branch: '^(main|release/.+)$', branch_match: regex"))).toEqual([])
  })
})

describe('a subscriptions file', () => {
  it('makes subscriptions, with the rules of CI if a subscription has no rules of its own', () => {
    const { subscriptions } = configOf(
      `subscriptions:
  - { channel: C0BUILDS01, project: acme/web }
  - { channel: C0OPS00001, project: ALL, events: [failed, stopped], quiet: true, mention: nobody }
  - { channel: C0WEB00001, project: "11", branch: release/*, branch_match: wildcard, details: names }
`,
    )
    expect(subscriptions).toMatchObject([
      {
        channel: 'C0BUILDS01',
        follows: { what: 'project', name: 'acme/web' },
        rules: null,
        quiet: false,
        source: 'file',
      },
      {
        follows: { what: 'all' },
        rules: [{ branch: null, events: ['failed', 'stopped'] }],
        quiet: true,
        mention: 'nobody',
      },
      {
        follows: { what: 'project', name: '11' },
        rules: [{ branch: 'release/*', branchMatch: 'wildcard', events: 'every' }],
        details: 'names',
      },
    ])
  })

  it.each([
    ['started, failed, success, recovered, waiting', ['started', 'failed', 'success', 'recovered', 'waiting']],
    ['stopped, started, failed, success, recovered, waiting', 'every'],
  ])('with the events %s selects these events and no others', (events, selected) => {
    const { subscriptions } = configOf(
      `subscriptions: [{ channel: C0BUILDS01, project: acme/web, events: [${events}] }]`,
    )
    expect(subscriptions).toMatchObject([{ rules: [{ events: selected }] }])
  })

  it('names the source of a project: in words, or by an id that only one source has', () => {
    const { subscriptions } = configOf(
      `subscriptions:
  - { channel: C0BUILDS01, project: acme/web CI, source: github }
  - { channel: C0BUILDS01, project: "11" }
  - { channel: C0BUILDS01, project: gitlab:71, source: gitlab }
  - { channel: C0BUILDS01, project: acme/web }
`,
    )
    expect(subscriptions.map(({ follows }) => follows)).toEqual([
      { what: 'project', name: 'acme/web CI', sources: ['github'] },
      { what: 'project', name: '11', sources: ['ci'] },
      { what: 'project', name: 'gitlab:71', sources: ['gitlab'] },
      { what: 'project', name: 'acme/web' },
    ])
  })

  it.each([
    ['project: all, source: ci', 'names a source, but this is for all projects'],
    ['project: "11", source: github', 'is not the source of a project with that id'],
    ['project: acme/web, source: forge', 'Invalid option'],
  ])('does not accept the source of %s', (rest, fault) => {
    const [only] = faultsOf(`subscriptions: [{ channel: C0BUILDS01, ${rest} }]`)
    expect(only).toContain(`subscriptions[0].source: ${fault}`)
  })

  it('reports every fault with its place, all at once', () => {
    const faults = faultsOf(
      `subscriptions:
  - { channel: builds, project: acme/web }
  - { channel: C0BUILDS01, project: "" }
  - { channel: C0BUILDS01, project: all, events: [exploded], qiet: true }
  - { channel: C0BUILDS01 }
  - { channel: C0BUILDS01, project: all, events: [], branch_match: glob, mention: everybody, quiet: "yes" }
`,
    )
    const places = [
      'subscriptions[0].channel',
      'subscriptions[1].project',
      'subscriptions[2].events[0]',
      'subscriptions[2]: ',
      'subscriptions[3].project',
      'subscriptions[4].events',
      'subscriptions[4].branch_match',
      'subscriptions[4].mention',
      'subscriptions[4].quiet',
    ]
    for (const place of places)
      expect(faults).toContainEqual(expect.stringContaining(`SUBSCRIPTIONS_FILE s.yml: ${place}`))
    expect(faults).toHaveLength(places.length)
  })

  it.each([
    ['no YAML', 'subscriptions:\n  - {channel: [', /line \d+ is not valid YAML/],
    ['an empty text', '', /the file/],
    ['a list', '- channel: C0BUILDS01', /the file/],
    ['another word', 'subscribers: []', /subscriptions/],
  ])('is refused if it contains %s', (_, text, fault) => {
    const faults = faultsOf(text)
    expect(faults.length).toBeGreaterThan(0)
    expect(faults.join('\n')).toMatch(fault)
  })

  it('may contain an empty list', () => {
    expect(configOf('subscriptions: []').subscriptions).toEqual([])
  })
})
