import { certainlyUndone, CiError } from '../../sources/ci-service/errors.ts'
import type { ProjectRequest } from '../../domain/project-request.ts'
import { troubleOf } from '../../catalog/ci-trouble.ts'
import type { SentInVain } from './outcomes.ts'
import type { ProjectDeps } from './deps.ts'
import { end } from './record.ts'

/** CI is looked at so long after an unclear end, one time after the other. */
export const LOOK_AFTER_MS = [0, 2_000, 5_000] as const

/** Past these, the job looks again, so long as CI cannot be asked. */
export const LOOK_LATER_MS = 10_000

/** What a look at CI showed of a write whose end is not known. */
export type Seen<Done> = { kind: 'shown'; done: Done } | { kind: 'not-shown' | 'away' }

/** The one call: what it gave, or why there is nothing to look up. */
export async function callCi<Answer>(
  deps: ProjectDeps,
  request: ProjectRequest,
  call: () => Promise<Answer>,
): Promise<
  { kind: 'answered'; answer: Answer } | { kind: 'unclear'; code: string } | Extract<SentInVain, { kind: 'ci-refused' }>
> {
  try {
    return { kind: 'answered', answer: await call() }
  } catch (error) {
    const { id, action, project } = request
    const isUndone = certainlyUndone(error)
    const said = isUndone ? 'CI refused a write' : 'unclear whether CI took a write'
    deps.log.warn({ err: error, request: id, action, project }, said)
    // What is no answer of CI's is a fault of ours after the call may have gone out.
    const { code, reason } = error instanceof CiError ? troubleOf(error) : { code: 'fault', reason: null }
    if (!isUndone) return { kind: 'unclear', code }
    await end(deps, request, { state: 'refused', code, reason })
    return { kind: 'ci-refused', code, reason, project }
  }
}

/** Looks at CI until it shows what was asked for, or the looks are used up. Nothing is ever sent again. */
export async function lookAgain<Done>({ clock }: ProjectDeps, look: () => Promise<Seen<Done>>): Promise<Seen<Done>> {
  let seen: Seen<Done> = { kind: 'away' }
  for (const ms of LOOK_AFTER_MS) {
    if (ms > 0) await clock.sleep(ms)
    seen = await look()
    if (seen.kind === 'shown') break
  }
  return seen
}

/** Why it is unclear where CI said that it did it. */
export const TAKEN = 'taken'

/**
 * What is left to say of a write that does not show. One without an answer may still be on its way through CI: it stays
 * open until it cannot be, so that nobody's next write is overwritten by it; the job ends it.
 */
export async function endUnclear(
  deps: ProjectDeps,
  request: ProjectRequest,
  code: string,
  looked: 'not-shown' | 'away',
): Promise<Extract<SentInVain, { kind: 'unclear' }>> {
  const change =
    looked === 'not-shown' && code === TAKEN
      ? ({ state: 'unconfirmed', code: 'not-shown' } as const)
      : ({ state: 'unclear', code, lookAt: deps.clock.now() + LOOK_LATER_MS } as const)
  await end(deps, request, change)
  return { kind: 'unclear', code, project: request.project, looked }
}
