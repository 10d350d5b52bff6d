import { CHANNELS_MAX } from '../../../../src/features/subscriptions/checks.ts'
import { describedFeatures } from '../../../../src/features/features.ts'
import { examine, type DoctorOutcome, type Examined } from '../../../../src/features/doctor/examine.ts'
import { type DoctorDeps, IN_SLACK } from '../../../../src/features/kit/check.ts'
import { invariant } from '../../../../src/lib/assert.ts'
import type { Project } from '../../../../src/domain/ci-project/project.ts'
import type { CanPost } from '../../../../src/slack/api/send-text.ts'
import type { SlackTrouble } from '../../../../src/slack/api/errors.ts'
import { SCOPES, type SlackIdentity } from '../../../../src/slack/api/examiner.ts'
import { CiError, type CiErrorKind } from '../../../../src/sources/http/errors.ts'
import type { DeliveredProject } from '../../../../src/store/records.ts'
import { BUILD_AT, BUILD_UUID, CHANNEL, FORMER_CHANNEL, OTHER_REF, RED_AT, REFERENCE, type Cast } from './cast.ts'
import { channels, follower, HEALTHY, legacyOf, listOf, projectWith, ruleTo, storeWith } from './healthy.ts'
import { CODES, each, refusals, type Cases } from './words.ts'
import { samplesOfKinds } from './sample.ts'
import { answerDoctor } from '../../../../src/features/doctor/messages.ts'

export const doctorSamples = async (cast: Cast) =>
  samplesOfKinds<DoctorOutcome>('doctor', await doctors(cast), (outcome) =>
    answerDoctor(outcome, { reference: REFERENCE }),
  )

/** Everything that the doctor can find, as its checks say it, and its refusals. */
export async function doctors(cast: Cast): Promise<Cases<DoctorOutcome>> {
  const found = Object.entries(metBy(cast)).map(async ([when, met]) => ({ when, outcome: await examined(met) }))
  return {
    findings: [{ when: 'all is well', outcome: await examined([[null, {}]]) }, ...(await Promise.all(found))],
    forbidden: forbidden(cast),
    'unknown-person': [{ when: 'Slack does not say who asks', outcome: { kind: 'unknown-person', code: cast.code } }],
  }
}

function forbidden(cast: Cast): Cases<DoctorOutcome>['forbidden'] {
  const [first, ...others] = refusals(cast).map(({ when, outcome: permit }) => ({
    when,
    outcome: { kind: 'forbidden' as const, permit },
  }))
  invariant(first, 'somebody is refused')
  return [first, ...others]
}

/** A check by its name, null: all; and what it meets that is not in order. */
type Met = readonly [check: string | null, changes: Partial<DoctorDeps>]

async function examined(met: readonly Met[]): Promise<Examined> {
  const found = met.map(([check, changes]) => {
    const checks = describedFeatures().checks.filter(({ name }) => check === null || name === check)
    return examine({ ...HEALTHY, ...changes }, IN_SLACK, checks)
  })
  return { kind: 'findings', findings: (await Promise.all(found)).flatMap(({ findings }) => findings), tookMs: 800 }
}

/** In which case which checks meet what. */
const metBy = (cast: Cast): Record<string, readonly Met[]> => ({
  'Slack does not take the token, or is away': all('slack-token', [
    identity({ kind: 'refuses', code: cast.code }),
    identity({ kind: 'away', code: cast.code }),
  ]),
  'scopes are missing': all('slack-scopes', [granted(SCOPES.filter((scope) => !WANTED_ANYWAY.includes(scope)))]),
  'Slack does not take the app token, or there is none': all('socket-mode', [
    socket({ kind: 'refuses', code: 'invalid_auth' }),
    socket({ kind: 'refuses', code: 'missing_scope' }),
    ...['link_disabled', 'too_many_websockets', 'cut_again', cast.code].map((why) => ({
      receiving: async () => ({ wrongSignatures: 0, socketTrouble: why }),
    })),
    { slack: { ...slack, socket: null } },
  ]),
  'the clock is off': all('clock', [granted(SCOPES, 90_000), granted(SCOPES, -90_000)]),
  'channels cannot be told': all('channels', [
    { subscriptions: async () => [] },
    ...['is_archived', 'is_moved', 'not_in_channel', 'channel_not_found', 'restricted_action', cast.code].map(
      (why) => ({
        subscriptions: async () => [follower(CHANNEL)],
        ...channel({ kind: 'closed', code: why }),
      }),
    ),
    {
      config: { ...HEALTHY.config, subscriptions: [follower(FORMER_CHANNEL)] },
      store: storeWith({ movedChannels: async () => new Map([[FORMER_CHANNEL, CHANNEL]]) }),
    },
    channel({ kind: 'refuses', code: 'missing_scope', needed: ['channels:read', 'groups:read', 'mpim:read'] }),
    { ...channel({ kind: 'refuses', code: 'missing_scope' }), subscriptions: channels(CHANNELS_MAX + 1) },
    unmatched(cast, 'slack', [cast.branch]),
    unmatched(cast, 'file', [cast.branch, 'f/*']),
  ]),
  "CI's v2 interface does not answer as it should": all('ci-v2', [
    ...CODES_OF_CI.map((kind) => v2List(refusing(kind))),
    v2List(async () => ({ ...listOf(), skipped: 1 })),
  ]),
  'rights are missing': all('ci-v2-scopes', [{ v2: { ...v2, stopBuild: refusing('forbidden') } }]),
  "CI's legacy interface refuses": all('ci-legacy', [
    { legacy: { listProjects: refusing('unauthorized') } },
    { legacy: { listProjects: refusing('forbidden') } },
  ]),
  'the site is another one': all('site', [{ badges: { fetchBadge: refusing('not-found') } }]),
  'GitHub does not show a repository': all(
    'github',
    (['unauthorized', 'not-found', 'timeout'] as const).map((kind) => ({
      config: { ...HEALTHY.config, github: { repositories: ['acme/web'] } },
      github: { ...HEALTHY.github!, runs: refusing(kind) },
    })),
  ),
  'GitLab does not show a project': all(
    'gitlab',
    [refusing('unauthorized'), refusing('forbidden', 'insufficient_scope')].map((pipelines) => ({
      config: { ...HEALTHY.config, gitlab: { projects: ['acme/web'] } },
      gitlab: { ...HEALTHY.gitlab!, pipelines },
    })),
  ),
  'projects do not tell Buildline everything': all('webhook-rules', [
    listed(projectWith(null, cast.project), projectWith(ruleTo('another'), cast.other), projectWith({}, 'acme/ios')),
    listed(projectWith(null, cast.project), projectWith(ruleTo('another'), cast.other)),
    listed(projectWith({ build_statuses: ['failed', 'success', 'recovered'] }, cast.project)),
    listed(projectWith({ branch: cast.branch, branch_match: 'exact' }, cast.project)),
  ]),
  'projects are not heard of': all('silent-projects', [silent(cast)]),
  'the database does not do its work': all('store', [
    { store: storeWith({}, async () => Promise.reject(Object.assign(new Error(), { code: cast.code }))) },
    slowStore(),
    { freeBytes: async () => 50 * 1024 * 1024 },
  ]),
  'not everything is set up': [
    [null, { v2: null, legacy: null, badges: null, github: null, gitlab: null, store: null }],
  ],
  'webhooks are missing': [
    ['github', { github: { ...HEALTHY.github!, hooks: async () => [] } }],
    ['gitlab', { gitlab: { ...HEALTHY.gitlab!, hooks: refusing('not-found') } }],
  ],
  'some things could not be looked at': [
    ['ci-v2', { ...v2List(never), ...AT_ONCE }],
    ['store', { store: storeWith({}, never), ...AT_ONCE }],
    ['slack-scopes', identity({ kind: 'away', code: 'timeout' })],
    ['channels', channel({ kind: 'away', code: 'timeout' })],
    ['webhook-rules', v2List(refusing('server'))],
    ['silent-projects', { v2: null }],
    ['silent-projects', { store: storeWith({ deliveredAs: async () => Promise.reject(new Error()) }) }],
    ['site', { ...listed(), legacy: null }],
    ['clock', granted(SCOPES, null)],
    ['ci-legacy', { legacy: { listProjects: async () => Promise.reject(new Error()) } }],
  ],
})

const all = (check: string, changes: readonly Partial<DoctorDeps>[]): Met[] => changes.map((one) => [check, one])

const { slack } = HEALTHY
const v2 = HEALTHY.v2!
const WANTED_ANYWAY: readonly string[] = ['channels:read', 'groups:read']

const identity = (who: SlackIdentity) => ({ slack: { ...slack, identity: async () => who } })
const granted = (scopes: readonly string[], aheadMs: number | null = 0) => identity({ kind: 'known', scopes, aheadMs })
const socket = (opening: SlackTrouble) => ({ slack: { ...slack, socket: async () => opening } })
const channel = (can: CanPost) => ({ slack: { ...slack, channel: async () => can } })

const v2List = (listProjects: typeof v2.listProjects) => ({ v2: { ...v2, listProjects } })
const listed = (...projects: Project[]) => v2List(async () => listOf(...projects))

const CODES_OF_CI = each(CODES, (kind) => kind).map(({ outcome }) => outcome)

const refusing = (kind: CiErrorKind, reason?: string) => async () =>
  Promise.reject(new CiError({ kind, purpose: 'sample', reason, cause: CERTIFICATE_ERROR }))
const CERTIFICATE_ERROR = Object.assign(new Error(), { code: 'SELF_SIGNED_CERT_IN_CHAIN' })

const never = () => new Promise<never>(() => {})
/** Every check is late. */
const AT_ONCE = { clock: { ...HEALTHY.clock, sleep: async () => {} } }

/** The channel follows branches on which nothing was built, while the project was. */
const unmatched = ({ project }: Cast, source: 'file' | 'slack', branches: readonly string[]): Partial<DoctorDeps> => ({
  subscriptions: async () => [
    follower(CHANNEL, {
      follows: { what: 'project', name: project },
      rules: branches.map((branch) => ({ branch, branchMatch: null, events: 'every' })),
      source,
    }),
  ],
  store: storeWith({
    deliveredAs: async () => [delivered(project, BUILD_AT)],
    newestBuild: async () => ({ at: BUILD_AT }),
  }),
})

const delivered = (name: string, at: number): DeliveredProject => ({
  projectId: OTHER_REF.projectId,
  name,
  fullName: null,
  projectUuid: null,
  at,
})

/** The first project has built since its last delivery, and CI does not show whether the other one has. */
function silent(cast: Cast): Partial<DoctorDeps> {
  const [one, other] = [projectWith({}, cast.project), projectWith({}, cast.other, BUILD_UUID)]
  return {
    ...listed(one, other),
    legacy: { listProjects: async () => listOf(legacyOf(one, BUILD_AT)) },
    store: storeWith({ deliveredAs: async () => [delivered(cast.project, RED_AT)] }),
  }
}

function slowStore(): Partial<DoctorDeps> {
  let now = BUILD_AT
  return {
    clock: { ...HEALTHY.clock, now: () => now },
    store: storeWith({}, async () => void (now += 1_500)),
  }
}
