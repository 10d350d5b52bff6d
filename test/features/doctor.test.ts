import { describe, expect, it } from 'vitest'
import type { ProjectId } from '../../src/domain/ids.ts'
import { BUILD_STATUSES, HOUR, legacyList, projectList } from './doctor-cast.ts'
import { type CheckName, type CheckResult, type DoctorDeps, FINDINGS_MAX } from '../../src/features/doctor/findings.ts'
import {
  CHANNELS_MAX,
  SILENT_MS_MAX,
  UNDER_WAY_MS_MAX,
  CLOCK_OFF_MS_MAX,
  WRITE_MS_MAX,
} from '../../src/features/doctor/checks.ts'
import { webhookRuleFor } from '../../src/features/doctor/check-ci.ts'
import { answerDoctor } from '../../src/features/doctor/messages.ts'
import { CiError } from '../../src/sources/http/errors.ts'
import type { Project } from '../../src/domain/project.ts'
import { PROJECT_ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { buttonsOf } from './answers-stage.ts'
import { CHECK_WITHIN_MS, examine, doctorOperations } from '../../src/features/doctor/examine.ts'
import { absentDoctor } from '../support/doctor.ts'
import { T0 } from '../support/build-events.ts'
import { createHandClock } from '../support/hand-clock.ts'
import { follower } from '../alerts/stage.ts'

const clock = createHandClock(T0)
const absent = absentDoctor(clock)

async function found(check: CheckName, changes: Partial<DoctorDeps>): Promise<CheckResult[]> {
  const { findings } = await examine({ ...absent, ...changes })
  return findings.filter((one) => one.check === check).map(({ what }) => what)
}

const known = (changes: object): Partial<DoctorDeps> => ({
  slack: { ...absent.slack, identity: async () => ({ kind: 'known', scopes: [], aheadMs: 0, ...changes }) },
})

describe('the doctor', () => {
  it.each([
    [CLOCK_OFF_MS_MAX, 'fine'],
    [-CLOCK_OFF_MS_MAX, 'fine'],
    [CLOCK_OFF_MS_MAX + 1, 'clock-off'],
    [-CLOCK_OFF_MS_MAX - 1, 'clock-off'],
  ])('reports a clock that is %i ms ahead as %s', async (aheadMs, kind) => {
    expect(await found('clock', known({ aheadMs }))).toMatchObject([{ kind }])
  })

  it('does not guess if Slack gives neither its time nor the scopes', async () => {
    const silent = known({ aheadMs: null, scopes: null })
    for (const check of ['clock', 'slack-scopes'] as const)
      expect(await found(check, silent)).toEqual([{ kind: 'not-checked', why: 'not-said' }])
  })

  it('says whose project is meant by each name without a source, and names those that several sources have', async () => {
    const every = ['ci', 'github', 'gitlab'] as const
    const [api, web] = [
      { name: 'acme/api', known: ['gitlab'], meant: every, now: null } as const,
      { name: 'acme/web', known: ['ci', 'github'], meant: ['github', 'gitlab'], now: null } as const,
    ]
    const { findings } = await examine({ ...absent, namesWithoutSource: async () => [api, web] }, ['names'])
    expect(findings).toEqual([
      { check: 'names', verdict: 'wrong', what: { kind: 'name-of-several', ...web } },
      { check: 'names', verdict: 'fine', what: { kind: 'names-meant', names: [api] } },
    ])
    expect(await found('names', {})).toEqual([])
    const failing = () => Promise.reject(new Error('closed'))
    expect(await found('names', { namesWithoutSource: failing })).toEqual([{ kind: 'not-checked', why: 'store-fails' }])
  })

  it.each([
    [CHANNELS_MAX, [{ kind: 'fine', count: CHANNELS_MAX }]],
    [
      CHANNELS_MAX + 1,
      [
        { kind: 'fine', count: CHANNELS_MAX },
        { kind: 'not-checked', why: 'too-many' },
      ],
    ],
  ])('checks %i channels, each once, up to its limit', async (count, expected) => {
    const asked: string[] = []
    const channels = Array.from({ length: count }, (_, at) => `C0${at}` as Parameters<typeof follower>[0])
    const changes: Partial<DoctorDeps> = {
      subscriptions: async () => [...channels, ...channels].map((channel) => follower(channel)),
      slack: {
        ...absent.slack,
        channel: async (channel) => {
          asked.push(channel)
          return { kind: 'open' }
        },
      },
    }
    expect(await found('channels', changes)).toEqual(expected)
    expect(asked).toEqual(channels.slice(0, CHANNELS_MAX))
  })

  it.each([
    [FINDINGS_MAX, FINDINGS_MAX, undefined],
    [FINDINGS_MAX + 2, FINDINGS_MAX + 1, { kind: 'more', count: 2 }],
  ])('of %i projects without a rule lists the first and counts the others', async (count, told, last) => {
    const v2 = { ...NO_V2, listProjects: async () => projectList(count, []) }
    const { findings } = await examine({ ...absent, v2 })
    const own = findings.filter(({ check }) => check === 'webhook-rules')
    expect(own).toHaveLength(told)
    expect(new Set(own.map(({ verdict }) => verdict))).toEqual(new Set(['wrong']))
    if (last) expect(own.at(-1)?.what).toEqual(last)
  })

  it.each([
    [4, 4],
    [7, 5],
  ])(
    'offers to add the rule to %i projects with %i buttons, whose values contain no address',
    async (lacking, offered) => {
      const told = projectList(lacking + 1, BUILD_STATUSES).projects.at(-1)!
      const projects = [...projectList(lacking, []).projects, told]
      const v2 = { ...NO_V2, listProjects: async () => ({ ...projectList(0, []), projects }) }
      const answer = answerDoctor(await examine({ ...absent, v2, isOurs: () => true }), { reference: 'r' })
      const buttons = buttonsOf(answer)
      expect(buttons).toHaveLength(offered)
      expect(buttons[0]).toMatchObject({ action_id: PROJECT_ACTION_IDS.addWebhook, value: projects[0]!.uuid })
      expect(answer.text.split('Press *Add webhook rule*')).toHaveLength(offered + 1)
      expect(answer.text).toContain('`bot.example`')
      expect(JSON.stringify(answer)).not.toContain('/webhooks/builds/s"')
    },
  )

  it("offers nothing if no rule contains Buildline's address", async () => {
    const v2 = { ...NO_V2, listProjects: async () => projectList(2, BUILD_STATUSES) }
    const answer = answerDoctor(await examine({ ...absent, v2, isOurs: () => false }), { reference: 'r' })
    expect(buttonsOf(answer)).toEqual([])
    expect(answer.text).toContain('with a wrong secret')
    expect(answer.text).toContain(
      "In CI, replace the secret at the end of the rule's address with the value of `WEBHOOK_SECRET`",
    )
  })

  it.each([
    [WRITE_MS_MAX, { kind: 'fine', count: null }],
    [WRITE_MS_MAX + 1, { kind: 'store-slow', ms: WRITE_MS_MAX + 1 }],
  ])('judges a database that takes %i ms to write', async (ms, expected) => {
    let now = T0
    const write: NonNullable<DoctorDeps['store']>['write'] = async () => {
      now += ms
      return undefined as never
    }
    const store = { ...({} as NonNullable<DoctorDeps['store']>), write }
    expect(await found('store', { store, clock: { ...clock, now: () => now } })).toEqual([expected])
  })

  it('reports a database that is away', async () => {
    expect(await found('store', {})).toEqual([{ kind: 'no-database' }])
  })

  it.each([
    ['an hour', SILENT_MS_MAX, UNDER_WAY_MS_MAX, 'fine'],
    ['more than an hour', SILENT_MS_MAX + 1, UNDER_WAY_MS_MAX, 'silent-project'],
    ['longer, but a minute ago at most,', SILENT_MS_MAX + 1, UNDER_WAY_MS_MAX - 1, 'fine'],
  ])('judges a project whose last delivery came %s before its newest build', async (_, aheadMs, agoMs, kind) => {
    const startedAt = T0 - agoMs
    const deliveredAs = async () => [
      { projectId: '1' as ProjectId, name: 'acme/p1', fullName: null, projectUuid: null, at: startedAt - aheadMs },
    ]
    const changes: Partial<DoctorDeps> = {
      v2: { ...NO_V2, listProjects: async () => projectList(1, BUILD_STATUSES) },
      legacy: { listProjects: async () => legacyList(startedAt) },
      store: { read: { deliveredAs } } as never,
      clock: { ...clock, now: () => T0 },
    }
    expect((await found('silent-projects', changes)).map((one) => one.kind)).toEqual([kind])
  })

  it('reports a project as silent if its builds are known only from asking CI', async () => {
    const asked = { projectId: '1' as ProjectId, name: 'acme/p1', fullName: null, projectUuid: null, at: 0 }
    const changes: Partial<DoctorDeps> = {
      v2: { ...NO_V2, listProjects: async () => projectList(1, BUILD_STATUSES) },
      legacy: { listProjects: async () => legacyList(T0 - UNDER_WAY_MS_MAX) },
      store: { read: { deliveredAs: async () => [asked] } } as never,
      clock: { ...clock, now: () => T0 },
    }
    expect(await found('silent-projects', changes)).toMatchObject([{ kind: 'silent-project', lastAt: null }])
  })

  it('does not report a project as silent that has never built', async () => {
    const changes: Partial<DoctorDeps> = {
      v2: { ...NO_V2, listProjects: async () => projectList(1, BUILD_STATUSES) },
      legacy: { listProjects: async () => legacyList(null) },
      store: { read: { deliveredAs: async () => [] } } as never,
    }
    expect(await found('silent-projects', changes)).toEqual([{ kind: 'fine', count: 1 }])
  })

  it('waits for no check longer than its limit, and aborts late ones', async () => {
    const own = createHandClock(T0)
    const signals: AbortSignal[] = []
    const legacy: DoctorDeps['legacy'] = {
      listProjects: (signal) => {
        signals.push(signal!)
        return new Promise(() => {})
      },
    }
    let ended: number | null = null
    const examining = examine({ ...absentDoctor(own), legacy }).then((examined) => {
      ended = own.now()
      return examined
    })
    await own.advance(CHECK_WITHIN_MS - 1)
    expect([ended, signals[0]?.aborted]).toEqual([null, false])
    await own.advance(1)
    const { findings, tookMs } = await examining
    expect([ended, tookMs, signals[0]?.aborted]).toEqual([T0 + CHECK_WITHIN_MS, CHECK_WITHIN_MS, true])
    expect(findings.find(({ check }) => check === 'ci-legacy')?.what).toEqual({ kind: 'not-checked', why: 'late' })
  })

  it('reports a bug in a check as such, and continues with the others', async () => {
    const warned: string[] = []
    const legacy: DoctorDeps['legacy'] = { listProjects: () => Promise.reject(new TypeError('secret')) }
    const log = { warn: (_: object, text: string) => void warned.push(text) }
    expect(await found('ci-legacy', { legacy, log })).toEqual([{ kind: 'not-checked', why: 'fault' }])
    // The site check fails too, since it reads the same list.
    expect(warned).toContain('a check of the doctor failed')
    expect(await found('store', { legacy, log })).toEqual([{ kind: 'no-database' }])
  })
})

describe('the missing rule of a project', () => {
  const [lacking, told, moved, alsoMoved] = projectList(4, BUILD_STATUSES).projects
  const withUrl = (project: typeof lacking, url: string) => ({
    ...project!,
    raw: { notification_rules: [{ notifier: 'webhook', build_statuses: BUILD_STATUSES, options: { url } }] },
  })
  const NEW = 'https://new.example/webhooks/builds/s'
  const ruleFor = (projects: readonly Project[], isOurs: DoctorDeps['isOurs'] = () => true) => {
    const v2 = { ...NO_V2, listProjects: async () => ({ ...projectList(0, []), projects: [...projects] }) }
    return webhookRuleFor({ v2, isOurs }, lacking!.uuid)
  }
  const bare = { ...lacking!, raw: {} }

  it('has every event and branch, and the address of most other rules', async () => {
    const outcome = await ruleFor([bare, told!, withUrl(moved, NEW), withUrl(alsoMoved, NEW)])
    expect(outcome).toMatchObject({
      kind: 'rule',
      rule: { notifier: 'webhook', branch: null, events: BUILD_STATUSES, options: { url: NEW } },
    })
  })

  it('is not added if the project has it by now, and has no address if no rule has our secret', async () => {
    expect(await ruleFor([lacking!, told!])).toEqual({ kind: 'known', project: lacking!.name })
    expect(await ruleFor([bare, told!], () => false)).toEqual({ kind: 'no-address' })
  })

  it('counts as missing if the project has one with another secret', async () => {
    const theirs = withUrl(lacking, 'https://bot.example/webhooks/builds/theirs')
    expect(await ruleFor([theirs, told!], ({ pathname }) => pathname.endsWith('/s'))).toMatchObject({ kind: 'rule' })
  })

  it('is unknown while CI is away', async () => {
    const listProjects = () => Promise.reject(new CiError({ kind: 'server', status: 503, purpose: 'list' }))
    const outcome = await webhookRuleFor({ v2: { ...NO_V2, listProjects }, isOurs: () => true }, lacking!.uuid)
    expect(outcome).toMatchObject({ kind: 'ci-trouble', code: 'server' })
    expect(await webhookRuleFor({ v2: null, isOurs: () => true }, lacking!.uuid)).toEqual({ kind: 'no-v2' })
  })
})

describe('the permission for the doctor', () => {
  const by = { user: 'U0LIN00001', team: null }
  const no = { kind: 'no', why: 'not-admin', who: [] } as const

  it('is for admins only: others learn nothing, and no check runs', async () => {
    let asked = 0
    const slack: DoctorDeps['slack'] = {
      ...absent.slack,
      identity: async () => {
        asked += 1
        return { kind: 'away', code: 'timeout' }
      },
    }
    const rights: string[] = []
    const doctor = (permit: typeof no | { kind: 'yes' }) =>
      doctorOperations({
        ...absent,
        slack,
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
    const legacy: DoctorDeps['legacy'] = {
      listProjects: async () => {
        lists += 1
        return legacyList(T0 - HOUR)
      },
    }
    const doctor = doctorOperations({ ...absent, legacy, permits: async () => ({ kind: 'yes' }) })
    const [one, other] = await Promise.all([doctor.examine(by), doctor.examine(by)])
    expect([lists, one === other]).toEqual([1, true])
    await doctor.examine(by)
    expect(lists).toBe(2)
  })
})

const NO_V2: NonNullable<DoctorDeps['v2']> = {
  listProjects: async () => projectList(0, []),
  updateProject: async () => null,
  stopBuild: async () => {},
}
