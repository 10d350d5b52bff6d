import { sourceOf } from '../../src/domain/ids.ts'
import { parseAttemptRef } from '../../src/domain/cards/request.ts'
import type { CardView } from '../../src/domain/cards/view.ts'
import { act } from '../../src/features/builds/action.ts'
import type { ActDeps } from '../../src/features/builds/call-once.ts'
import { confirmRequests } from '../../src/features/builds/confirm.ts'
import { createCiServiceSource } from '../../src/sources/ci-service/source.ts'
import { recordLookedUp } from '../../src/alerts/record/record.ts'
import type { BranchEndsDeps } from '../../src/projects/streaks.ts'
import type { ReceivedEvent } from '../../src/domain/builds/build-event.ts'
import { readEnds } from '../../src/ci-sync/read-ends.ts'
import { prune } from '../../src/retention/retention.ts'
import { refreshSilent } from '../../src/ci-sync/refresh-silent.ts'
import type { Incarnation, Stage } from '../alerts/stage.ts'
import { announceClosings } from '../../src/features/subscriptions/channel.ts'
import { LIN, messageTs } from '../support/build-events.ts'
import type { Ci } from './ci.ts'
import type { Random } from './random.ts'
import { RETENTION_DAYS } from './scenario.ts'

// People who click on any cards they see, and the scheduled work of a process.

/** One process with its clients of CI. It may die before it gets CI's answer. */
export interface Hands extends Pick<ActDeps, 'sources'> {
  process: Incarnation
  newId: () => string
}

export function handsOf(process: Incarnation, { v2, legacy, hosted }: Ci, newId: () => string): Hands {
  const { configured, store } = process.deps
  const { mortally } = process
  const clients = {
    v2: configured.v2 ? { stopBuild: mortally(v2.stopBuild), listProjects: mortally(v2.listProjects) } : null,
    legacy: configured.legacy
      ? { restartBuild: mortally(legacy.restartBuild), getProject: mortally(legacy.getProject) }
      : null,
  }
  const source = createCiServiceSource(clients, store.read)
  const readable = {
    ...hosted,
    readEnd: mortally(hosted.readEnd!),
    readBranch: mortally(hosted.readBranch!),
  }
  return { process, newId, sources: (projectId) => (sourceOf(projectId) === 'ci' ? source : readable) }
}

/** Somebody clicks a button of some card, which may be old or outdated. */
export function press({ slack }: Stage, random: Random, hands: Hands, times: number): void {
  const cards = slack.messages.filter(({ view }) => view.kind === 'card' && view.offers.length > 0)
  if (cards.length === 0) return
  const { channel, view } = random.pick(cards)
  const { ref, offers } = view as CardView
  const action = random.pick(offers)
  const by = { user: LIN, team: null, channel, via: 'button' } as const
  // Twice at once: a double click, or two people.
  for (let i = 0; i < times; i++)
    void act(
      actDeps(hands),
      { action },
      { kind: 'run', ref: parseAttemptRef(ref)! },
      { ...by, interactionKey: hands.newId() },
    ).catch(NOTHING)
}

// The person gets an error message; only what remains of the request matters here.
const NOTHING = () => {}

const actDeps = ({ process: { deps, processId }, sources, newId }: Hands): ActDeps => ({
  store: deps.store,
  clock: deps.clock,
  log: deps.log,
  nameOf: async () => null,
  newId,
  processId,
  configured: deps.configured,
  sources,
  sites: { ci: null, github: null, gitlab: null },
  permits: async () => ({ kind: 'yes' }),
})

/** Ends requests that no delivery ends in time, and asks what the jobs of ended builds say. */
export async function lookAfter({ process: { deps, processId }, sources }: Hands): Promise<void> {
  await confirmRequests({ ...deps, processId, sources })
  const record = (shown: { event: ReceivedEvent }) => recordLookedUp(deps, shown, 'delivery')
  const failures = { failureLogs: true, recordFailures: async () => {} }
  await readEnds({ ...deps, ...failures, sources, record }, new AbortController().signal)
  // Slack accepts every message to owners.
  const sendText = async () => ({ kind: 'sent', ts: messageTs('1772460000.000001') }) as const
  await announceClosings({ ...deps, sendText, admins: [] })
}

/** What ends the streaks of branches that are gone, before anybody is told of them. */
export const branchEndsDeps = ({ process: { deps }, sources, newId }: Hands): BranchEndsDeps => ({
  ...deps,
  sources,
  newId,
})

/** Looks up silent builds at CI, and runs retention. */
export async function keepUp({ process: { deps }, sources }: Hands): Promise<void> {
  const never = new AbortController().signal
  await refreshSilent({ ...deps, sources, count: () => {} }, never)
  await prune({ ...deps, retentionDays: RETENTION_DAYS }, never)
}
