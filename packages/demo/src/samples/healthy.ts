import { NO_DETAILS } from '../../../../src/domain/builds/build-event.ts'
import { isChannelId, toUuid, type ChannelId } from '../../../../src/domain/ids.ts'
import type { ProjectWithBuilds, Project, ProjectList } from '../../../../src/domain/ci-project/project.ts'
import { EVERY_BUILD_STATUS } from '../../../../src/domain/rules/rule.ts'
import type { Subscription } from '../../../../src/domain/rules/subscription.ts'
import type { DoctorDeps } from '../../../../src/features/kit/check.ts'
import { systemClock } from '../../../../src/lib/clock.ts'
import { SCOPES } from '../../../../src/slack/api/examiner.ts'
import { BUILD_AT, OTHER_REF, PROJECT_UUID } from './cast.ts'

// What the doctor looks at where everything is in order, to be changed in one place by a sample or a test.

const SECRET = 'the-secret'
const HOST = 'ci-bot.example.com'

export const listOf = <Item>(...projects: Item[]): ProjectList<Item> => ({ projects, truncated: false, skipped: 0 })

/** A project of CI's whose webhook rule differs in this from one that selects everything; null: it has no rule. */
export const projectWith = (rule: object | null, name: string, uuid = PROJECT_UUID): Project => ({
  uuid,
  id: null,
  name,
  type: 'basic',
  rules: [],
  raw: { notification_rules: rule === null ? [] : [{ ...WHOLE_RULE, ...rule }] },
})

export const ruleTo = (secret: string, host = HOST) => ({
  options: { url: `https://${host}/webhooks/builds/${secret}` },
})
const WHOLE_RULE = { notifier: 'webhook', build_statuses: EVERY_BUILD_STATUS, ...ruleTo(SECRET) }

/** The same project in the legacy interface, with a build that began then (ms); null: without builds. */
export function legacyOf({ name, uuid }: Project, startedAt: number | null): ProjectWithBuilds {
  const { projectId, buildId } = OTHER_REF
  const seen = { projectId, buildId, rawStatus: 'initiated', branch: 'main', commitId: null }
  const build = { ...seen, details: { ...NO_DETAILS, startedAt } }
  return { id: projectId, uuid, name, builds: startedAt === null ? [] : [build] }
}

export const follower = (channel: ChannelId, changes: Partial<Subscription> = {}): Subscription => ({
  channel,
  follows: { what: 'all' },
  rules: null,
  quiet: false,
  mention: 'nobody',
  source: 'default-channel',
  ...changes,
})

export const channels = (count: number) => async () =>
  Array.from({ length: count }, (_, at) => `C0BUILDS${at}`)
    .filter(isChannelId)
    .map((id) => follower(id))

type DoctorStore = NonNullable<DoctorDeps['store']>

export const storeWith = (
  read: Partial<DoctorStore['read']>,
  write: DoctorStore['write'] = async () => {},
): DoctorStore => ({
  read: {
    lastDoneAt: async () => null,
    movedChannels: async () => new Map(),
    deliveredAs: async () => [],
    newestBuild: async () => null,
    branchesOf: async () => [],
    ...read,
  },
  write,
})

const THREE = ['acme/web', 'acme/api', 'acme/ios']
const PROJECTS = THREE.map((name, at) => projectWith({}, name, toUuid(`0a1b2c3d-0000-4000-8000-00000000000${at}`)))
const GITHUB_HOOK = {
  events: ['workflow_run'],
  config: { url: `https://${HOST}/webhooks/github`, content_type: 'json' },
}

export const HEALTHY: DoctorDeps = {
  clock: { now: () => BUILD_AT + 10 * 60_000, sleep: systemClock.sleep },
  log: { warn: () => {} },
  config: {
    asksByEmail: false,
    subscriptions: [],
    github: { repositories: THREE },
    gitlab: { projects: THREE },
  },
  slack: {
    identity: async () => ({ kind: 'known', scopes: SCOPES, aheadMs: 0 }),
    channel: async () => ({ kind: 'open' }),
    socket: async () => ({ kind: 'open' }),
  },
  subscriptions: channels(3),
  store: storeWith({}),
  freeBytes: null,
  v2: { listProjects: async () => listOf(...PROJECTS), updateProject: async () => null, stopBuild: async () => {} },
  legacy: { listProjects: async () => listOf(...PROJECTS.map((one) => legacyOf(one, null))) },
  badges: { fetchBadge: async () => null },
  github: {
    runs: async () => 'unchanged',
    hooks: async () => [GITHUB_HOOK],
    rate: async () => null,
    cancel: async () => {},
    file: async () => '',
    failedJobs: async () => [],
    annotations: async () => [],
    refusals: () => [],
  },
  gitlab: {
    pipelines: async () => [],
    hooks: async () => [{ url: `https://${HOST}/webhooks/gitlab` }],
    rate: async () => null,
    scopes: async () => ['api'],
    project: async () => ({}),
  },
  webhookSecrets: [SECRET],
  receiving: async () => ({ wrongSignatures: 0, socketTrouble: null }),
}
