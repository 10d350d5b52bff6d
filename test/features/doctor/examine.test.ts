import { describe, expect, it } from 'vitest'
import {
  channels as following,
  HEALTHY,
  legacyOf,
  listOf,
  projectWith,
  ruleTo,
  storeWith,
} from '../../../packages/demo/src/samples/healthy.ts'
import type { ProjectWithBuilds, Project } from '../../../src/domain/ci-project/project.ts'
import { toUuid } from '../../../src/domain/ids.ts'
import { channels, CHANNELS_MAX } from '../../../src/features/subscriptions/checks.ts'
import { legacy } from '../../../src/features/doctor/check-ci.ts'
import { CLOCK_OFF_MS_MAX, clockOfSlack } from '../../../src/features/doctor/check-slack.ts'
import { database, WRITE_MS_MAX } from '../../../src/features/doctor/checks.ts'
import { SILENT_MS_MAX, silentProjects, UNDER_WAY_MS_MAX, webhookRules } from '../../../src/features/projects/checks.ts'
import { webhookRuleFor } from '../../../src/projects/webhook-rule.ts'
import { describedFeatures } from '../../../src/features/features.ts'
import { CHECK_WITHIN_MS, doctorOperations, examine } from '../../../src/features/doctor/examine.ts'
import { FINDINGS_MAX, IN_PLAIN_TEXT, IN_SLACK } from '../../../src/features/kit/check.ts'
import { answerDoctor } from '../../../src/features/doctor/messages.ts'
import { PROJECT_ACTION_IDS } from '../../../src/slack/messages/ids.ts'
import { CiError } from '../../../src/sources/http/errors.ts'
import { T0 } from '../../support/build-events.ts'
import { createHandClock } from '../../support/hand-clock.ts'
import { buttonsOf } from '../../golden/answers-stage.ts'
import { said } from './stage.ts'

// Its words are in the golden file of the answers.

const { clock, slack } = HEALTHY
const { checks: CHECKS } = describedFeatures()
const v2 = HEALTHY.v2!
const listed = (...projects: Project[]) => ({ v2: { ...v2, listProjects: async () => listOf(...projects) } })
const projects = (count: number, rule: object | null) =>
  Array.from({ length: count }, (_, at) => projectWith(rule, `acme/p${at}`, uuidOf(at)))
const uuidOf = (at: number) => toUuid(`0a1b2c3d-0000-4000-8000-${String(at).padStart(12, '0')}`)

describe('the doctor', () => {
  it('says the same in Slack and in plain text, each in its own form', async () => {
    const changes = { ...HEALTHY, ...listed(projectWith(null, 'acme/web')) }
    const [inSlack, plain] = await Promise.all(
      [IN_SLACK, IN_PLAIN_TEXT].map(async (say) => (await examine(changes, say, [webhookRules])).findings[0]!.remedy),
    )
    expect(inSlack).toContain('the address `https://&lt;host&gt;/webhooks/builds/&lt;WEBHOOK_SECRET&gt;`')
    expect(plain).toContain('the address https://<host>/webhooks/builds/<WEBHOOK_SECRET>')
  })

  it('finds nothing wrong before the first start, and nothing that needs a look', async () => {
    const before = { ...HEALTHY, store: null, subscriptions: async () => [] }
    const { findings } = await examine(before, IN_PLAIN_TEXT, CHECKS)
    expect(findings.filter(({ verdict }) => verdict !== 'fine')).toMatchObject([
      {
        name: 'store',
        verdict: 'off',
        what: 'Buildline creates it at its first start',
        remedy: null,
      },
      { name: 'channels', verdict: 'off', what: 'no channel has a subscription yet' },
    ])
  })

  it('waits for no check longer than its limit, and aborts late ones', async () => {
    const own = createHandClock(T0)
    const signals: (AbortSignal | undefined)[] = []
    const hangs = (...args: readonly unknown[]) => {
      signals.push(args.at(-1) as AbortSignal)
      return new Promise<never>(() => {})
    }
    const ci = { v2: { listProjects: hangs, updateProject: hangs, stopBuild: hangs }, legacy: { listProjects: hangs } }
    let ended: number | null = null
    const examining = examine({ ...HEALTHY, ...ci, clock: own }, IN_PLAIN_TEXT, CHECKS)
    const noted = examining.then(() => (ended = own.now()))
    await own.advance(CHECK_WITHIN_MS - 1)
    expect([ended, signals.map((signal) => signal?.aborted)]).toEqual([null, [false, false, false, false]])
    await own.advance(1)
    await noted
    const { findings, tookMs } = await examining
    expect([ended, tookMs]).toEqual([T0 + CHECK_WITHIN_MS, CHECK_WITHIN_MS])
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true, true, true])
    const late = findings.filter(({ what }) => what === 'Not checked: CI did not answer in 5 s.')
    expect(late.map(({ name }) => name)).toEqual(CHECKS.filter(({ isOfCi }) => isOfCi).map(({ name }) => name))
    expect(findings.filter(({ verdict }) => verdict !== 'fine')).toEqual(late)
  })

  it('logs a bug in a check, and continues with the others', async () => {
    const warned: unknown[] = []
    const listProjects = () => Promise.reject(new TypeError('secret'))
    const log = { warn: (...line: unknown[]) => void warned.push(line) }
    const deps = { ...HEALTHY, legacy: { listProjects }, log }
    const { findings } = await examine(deps, IN_PLAIN_TEXT, [legacy, database])
    expect(findings.map(({ verdict }) => verdict)).toEqual(['unsure', 'fine'])
    expect(warned).toEqual([[expect.objectContaining({ check: 'ci-legacy' }), 'a check of the doctor failed']])
  })

  it.each([
    [FINDINGS_MAX, []],
    [FINDINGS_MAX + 2, ['wrong: … and 2 more like this.']],
  ])('of %i projects without a rule lists the first and counts the others', async (count, counted) => {
    const lines = await said(webhookRules, listed(...projects(count, null)))
    expect(lines.filter((line) => line.includes('has no webhook rule'))).toHaveLength(FINDINGS_MAX)
    expect(lines.slice(FINDINGS_MAX)).toEqual(counted)
  })

  it.each([
    [4, 4],
    [7, 5],
  ])('offers to add the rule to %i projects with %i buttons, and shows no secret', async (lacking, offered) => {
    const deps = { ...HEALTHY, ...listed(...projects(lacking, null), projectWith({}, 'acme/web')) }
    const answer = answerDoctor(await examine(deps, IN_SLACK, CHECKS), { reference: 'r' })
    const buttons = buttonsOf(answer)
    expect(buttons).toHaveLength(offered)
    expect(buttons[0]).toMatchObject({ action_id: PROJECT_ACTION_IDS.addWebhook, value: uuidOf(0) })
    expect(answer.text.split('Press *Add webhook rule*')).toHaveLength(offered + 1)
    expect(JSON.stringify(answer)).not.toContain(HEALTHY.webhookSecrets[0])
  })
})

describe('a check', () => {
  it.each([
    [CLOCK_OFF_MS_MAX, 'fine'],
    [-CLOCK_OFF_MS_MAX, 'fine'],
    [CLOCK_OFF_MS_MAX + 1, 'wrong'],
    [-CLOCK_OFF_MS_MAX - 1, 'wrong'],
  ])('calls a clock that is %i ms ahead %s', async (aheadMs, verdict) => {
    const identity = async () => ({ kind: 'known', scopes: [], aheadMs }) as const
    expect(await said(clockOfSlack, { slack: { ...slack, identity } })).toEqual([expect.stringMatching(verdict)])
  })

  it.each([
    [CHANNELS_MAX, []],
    [CHANNELS_MAX + 1, [expect.stringContaining('too many channels')]],
  ])('asks about %i channels, each once, up to its limit', async (count, more) => {
    const asked: string[] = []
    const channel = async (id: string) => {
      asked.push(id)
      return { kind: 'open' } as const
    }
    const all = await following(count)()
    const lines = await said(channels, { slack: { ...slack, channel }, subscriptions: async () => [...all, ...all] })
    expect(lines).toEqual([`fine: ${CHANNELS_MAX} channels can get builds.`, ...more])
    expect(asked).toEqual(all.slice(0, CHANNELS_MAX).map((one) => one.channel))
  })

  it('does not take a database that cannot be read for an empty one', async () => {
    const failing = () => Promise.reject(new Error('closed'))
    expect(await said(channels, { subscriptions: failing })).toEqual([
      'unsure: Not checked: the database could not be read.',
    ])
  })

  it.each([
    [WRITE_MS_MAX, 'fine'],
    [WRITE_MS_MAX + 1, 'wrong'],
  ])('calls a database that takes %i ms to write %s', async (ms, verdict) => {
    let now = T0
    const store = storeWith({}, async () => void (now += ms))
    expect(await said(database, { store, clock: { ...clock, now: () => now } })).toEqual([
      expect.stringMatching(verdict),
    ])
  })

  it('takes one slow write for a busy machine, and two for a slow database', async () => {
    for (const [times, verdict] of [
      [1, 'fine'],
      [2, 'wrong: A write took 2 s'],
    ] as const) {
      let now = T0
      let slow = times as number
      const store = storeWith({}, async () => void (now += slow-- > 0 ? 2 * WRITE_MS_MAX : 1))
      expect(await said(database, { store, clock: { ...clock, now: () => now } })).toEqual([
        expect.stringMatching(verdict),
      ])
    }
  })

  const MB = 1024 * 1024
  it.each([
    [200 * MB, 'fine'],
    [200 * MB - 1, 'wrong'],
  ])('calls a disk with %i bytes left %s', async (free, verdict) => {
    expect(await said(database, { freeBytes: async () => free })).toEqual([expect.stringMatching(verdict)])
  })

  it.each([
    ['an hour before its newest build', SILENT_MS_MAX, UNDER_WAY_MS_MAX, 'fine'],
    ['more than an hour before it', SILENT_MS_MAX + 1, UNDER_WAY_MS_MAX, 'wrong'],
    ['longer before one that began a minute ago at most', SILENT_MS_MAX + 1, UNDER_WAY_MS_MAX - 1, 'fine'],
    ['never: its builds are known only from asking CI', Infinity, UNDER_WAY_MS_MAX, 'wrong: .* no build was ever'],
  ])('judges a project whose last delivery came %s', async (_, aheadMs, agoMs, verdict) => {
    const builtAt = clock.now() - agoMs
    const project = legacyOf(projectWith({}, 'acme/web'), builtAt)
    const at = Math.max(0, builtAt - aheadMs)
    const changes = {
      ...listed(projectWith({}, 'acme/web')),
      legacy: { listProjects: async () => listOf(project) },
      store: storeWith({
        deliveredAs: async () => [{ projectId: project.id, name: 'acme/web', fullName: null, projectUuid: null, at }],
      }),
    }
    expect(await said(silentProjects, changes)).toEqual([expect.stringMatching(verdict)])
  })
})

describe('the missing rule of a project', () => {
  const lacking = projectWith(null, 'acme/new', uuidOf(1))
  const told = projectWith({}, 'acme/web')
  const ruleFor = (...all: Project[]) => webhookRuleFor({ ...HEALTHY, ...listed(...all) }, lacking.uuid)

  it('has every event and branch, and the address of most other rules', async () => {
    const moved = ruleTo('the-secret', 'new.example.com')
    expect(await ruleFor(lacking, told, projectWith(moved, 'acme/api'), projectWith(moved, 'acme/ios'))).toMatchObject({
      kind: 'rule',
      rule: { notifier: 'webhook', branch: null, events: ['started', 'failed', 'success', 'recovered'], ...moved },
    })
  })

  it('is not added if the project has it by now, and has no address if no rule has our secret', async () => {
    expect(await ruleFor({ ...told, uuid: lacking.uuid })).toEqual({ kind: 'known', project: 'acme/web' })
    const theirs = projectWith(ruleTo('theirs'), 'acme/new', lacking.uuid)
    expect(await ruleFor(theirs)).toEqual({ kind: 'no-address' })
    expect(await ruleFor(theirs, told)).toMatchObject({ kind: 'rule' })
  })

  it('is unknown while CI is away', async () => {
    const listProjects = () => Promise.reject(new CiError({ kind: 'server', status: 503, purpose: 'list' }))
    const outcome = await webhookRuleFor({ ...HEALTHY, v2: { ...v2, listProjects } }, lacking.uuid)
    expect(outcome).toMatchObject({ kind: 'ci-trouble', code: 'server' })
    expect(await webhookRuleFor({ ...HEALTHY, v2: null }, lacking.uuid)).toEqual({ kind: 'no-v2' })
  })
})

describe('the permission for the doctor', () => {
  const by = { user: 'U0LIN00001', team: null }
  const no = { kind: 'no', why: 'not-admin', who: [] } as const

  it('is for admins only: others learn nothing, and no check runs', async () => {
    let asked = 0
    const identity = async () => {
      asked += 1
      return { kind: 'away', code: 'timeout' } as const
    }
    const rights: string[] = []
    const doctor = (permit: typeof no | { kind: 'yes' }) =>
      doctorOperations({
        ...HEALTHY,
        slack: { ...slack, identity },
        checks: () => CHECKS,
        permits: async (right) => {
          rights.push(right)
          return permit
        },
      })
    expect(await doctor(no).examine(by)).toEqual({ kind: 'forbidden', permit: no })
    expect(asked).toBe(0)
    expect((await doctor({ kind: 'yes' }).examine(by)).kind).toBe('findings')
    expect([asked, rights]).toEqual([1, ['administer', 'administer']])
  })

  it('two concurrent requests share one examination, and a later one gets another', async () => {
    let lists = 0
    const listProjects = async () => {
      lists += 1
      return listOf<ProjectWithBuilds>()
    }
    const doctor = doctorOperations({
      ...HEALTHY,
      legacy: { listProjects },
      checks: () => CHECKS,
      permits: async () => ({ kind: 'yes' }),
    })
    const [one, other] = await Promise.all([doctor.examine(by), doctor.examine(by)])
    expect([lists, one === other]).toEqual([1, true])
    await doctor.examine(by)
    expect(lists).toBe(2)
  })
})
