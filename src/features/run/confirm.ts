import { CONFIRM_WITHIN_MS, GIVE_UP_MS, type ProjectRequest, type RequestEvent } from '../../domain/cards/request.ts'
import { checkDueRequests } from '../../projects/requests.ts'
import type { SendText } from '../../slack/api/send-text.ts'
import { lookedUpLine } from './messages.ts'
import { end, LOOK_AGAIN_MS, lookForBuild, type RunDeps, type Seen } from './run.ts'

export interface ConfirmRunsDeps extends RunDeps {
  sendText: SendText
}

/** Looks for the builds of runs with an unknown outcome, and tells the people who wanted them. See `checkDueRequests`. */
export const confirmRuns = (deps: ConfirmRunsDeps): Promise<void> =>
  checkDueRequests(deps, deps.store.read.projectRequestsToCheck, async (request) => {
    if (request.action === 'run') await confirm(deps, request)
  })

async function confirm(deps: ConfirmRunsDeps, request: ProjectRequest): Promise<void> {
  const seen = await lookForBuild(deps, request)
  const now = deps.clock.now()
  const isSeen = seen.kind === 'started' || seen.kind === 'several'
  const showsBy = request.requestedAt + CONFIRM_WITHIN_MS + (seen.kind === 'away' ? GIVE_UP_MS : 0)
  if (!isSeen && now < showsBy) return end(deps, request, lookLater(request, now))
  if (!isSeen) await end(deps, request, { kind: 'not-shown', code: seen.kind === 'away' ? 'cannot-look' : 'not-shown' })
  await tell(deps, request, seen)
}

/** A process that has died during its call leaves the outcome unclear. */
const lookLater = ({ state }: ProjectRequest, now: number): RequestEvent =>
  state === 'calling'
    ? { kind: 'unclear', code: 'interrupted', lookAt: now + LOOK_AGAIN_MS }
    : { kind: 'look-later', lookAt: now + LOOK_AGAIN_MS }

async function tell({ log, sendText }: ConfirmRunsDeps, request: ProjectRequest, seen: Seen): Promise<void> {
  const { id, project, requestedBy: by } = request
  log.warn({ request: id, action: 'run', project, by, seen: seen.kind }, 'a run was looked up')
  const sent = await sendText(by, lookedUpLine(request, seen))
  if (sent.kind !== 'sent') log.warn({ request: id, by, code: sent.code }, 'a person could not be told of a run')
}
