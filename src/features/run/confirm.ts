import { CONFIRM_WITHIN_MS, GIVE_UP_MS, type ProjectRequest } from '../../domain/cards/request.ts'
import { checkDueRequests, end, LOOK_LATER_MS } from '../../projects/requests.ts'
import type { SendText } from '../../slack/api/send-text.ts'
import { lookedUpLine } from './messages.ts'
import { lookForBuild, type RunDeps } from './run.ts'

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
  const { id, project, requestedBy: by, requestedAt, state } = request
  const now = deps.clock.now()
  if (seen.kind !== 'shown') {
    const lookAt = now + LOOK_LATER_MS
    const mayShowLater = now < requestedAt + CONFIRM_WITHIN_MS + (seen.kind === 'away' ? GIVE_UP_MS : 0)
    // A process that has died during its call leaves the outcome unclear.
    if (mayShowLater && state === 'calling') return end(deps, request, { kind: 'unclear', code: 'interrupted', lookAt })
    if (mayShowLater) return end(deps, request, { kind: 'look-later', lookAt })
    await end(deps, request, { kind: 'not-shown', code: seen.kind === 'away' ? 'cannot-look' : 'not-shown' })
  }
  const sent = await deps.sendText(by, lookedUpLine(request, seen.kind === 'shown' ? seen.done : null))
  deps.log.warn({ request: id, action: 'run', project, by, seen: seen.kind, told: sent.kind }, 'a run was looked up')
}
