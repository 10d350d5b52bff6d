import { isProjectRequest, type ProjectAction, type ProjectRequest } from '../../domain/project-request.ts'
import type { Uuid } from '../../domain/ids.ts'
import { isOpen } from '../../domain/request.ts'
import type { RequestChange } from '../../store/kept.ts'
import type { Tx } from '../../store/store.ts'
import { CALLING_MAX_MS } from '../builds/act.ts'
import type { Asker } from '../../catalog/outcomes.ts'
import { isGivenUp, NotAttempted } from '../../store/not-attempted.ts'
import type { Begun, NotSent } from './outcomes.ts'
import type { ProjectDeps } from './deps.ts'

/** What the record of a request holds: names of fields, no values. */
export interface Wanted {
  action: ProjectAction
  project: string
  projectUuid: Uuid | null
  what: readonly string[]
  before: Readonly<Record<string, string>>
}

type AskedAlready = Extract<NotSent, { kind: 'asked-already' }>

/** The record that comes before the call: one for each ask, and one open for each project, of new ones by name. */
export async function record(
  deps: ProjectDeps,
  wanted: Wanted,
  by: Asker,
): Promise<{ kind: 'recorded'; request: ProjectRequest } | AskedAlready> {
  const request = newRequest(deps, wanted, by)
  const earlier = await deps.store.write(async (tx) => {
    const repeated = await tx.projectRequestOf(by.askKey)
    if (repeated) return repeated
    if (await isGivenUp(tx, by.askKey)) return 'given-up' as const
    const open = await openRequest(tx, wanted)
    if (open) return open
    await tx.insertProjectRequest(request)
    return null
  })
  if (earlier === 'given-up') throw new NotAttempted('the asker was told that it was interrupted')
  return earlier ? askedAlready(earlier) : { kind: 'recorded', request }
}

/** What is being created has no uuid yet: it goes by its name. */
async function openRequest(tx: Tx, { action, project, projectUuid }: Wanted): Promise<ProjectRequest | null> {
  if (projectUuid !== null) return tx.openProjectRequest(projectUuid)
  // Nothing in the tables keeps two of one name apart.
  await tx.lockName(`create ${project}`)
  const newest = (await tx.newestRequests(LOOKED_BACK_MAX)).filter(isProjectRequest)
  return newest.find((one) => one.action === action && one.project === project && isOpen(one)) ?? null
}

/** An open one is among so many of the newest: it is open for minutes. */
const LOOKED_BACK_MAX = 100

export const askedAlready = ({ askedBy: by, askedAt: at, state }: ProjectRequest): AskedAlready => ({
  kind: 'asked-already',
  by,
  at,
  state,
})

/** How a request ends. What cannot be written now is looked after by the job, like that of a process that died. */
export async function end(deps: ProjectDeps, request: ProjectRequest, change: RequestChange): Promise<void> {
  const at = deps.clock.now()
  const isOver = change.state !== 'unclear'
  const ended = { answeredAt: at, lookAt: null, endedAt: isOver ? at : null, ...change }
  const { id, action, project, askedBy: by } = request
  deps.log.info({ request: id, action, project, by, state: change.state, code: change.code ?? null }, 'a write to CI')
  try {
    await deps.store.write((tx) => tx.updateRequest(request.id, ended))
  } catch (error) {
    deps.log.error({ err: error, request: id }, 'the end of a request could not be recorded; it is looked at later')
  }
}

/** Tells that it begins, beside the call: CI need not wait for Slack. */
export function tell({ log }: Pick<ProjectDeps, 'log'>, begun: Begun | undefined): Promise<void> {
  return (begun?.() ?? Promise.resolve()).catch((error: unknown) =>
    log.warn({ err: error }, 'that a project is being changed could not be told'),
  )
}

const newRequest = ({ newId, clock, processId }: ProjectDeps, wanted: Wanted, by: Asker): ProjectRequest => {
  const askedAt = clock.now()
  return {
    ...wanted,
    id: newId(),
    askKey: by.askKey,
    state: 'calling',
    askedBy: by.user,
    askedTeam: by.team,
    channel: by.channel,
    via: by.via,
    askedAt,
    claimedBy: processId,
    code: null,
    reason: null,
    answeredAt: null,
    lookAt: askedAt + CALLING_MAX_MS,
    endedAt: null,
  }
}
