import type { ActOutcome, BuildSummary, Target } from '../../catalog/outcomes.ts'
import { answerAct } from './act-messages.ts'
import { answerNotFound } from '../not-found.ts'
import { answerFound } from './status-messages.ts'
import { askerOf, messageOf } from '../body.ts'
import { outcomeName, whenMayRead } from '../command.ts'
import type { Door, Reply } from '../context.ts'
import { placeOf } from '../reply-target.ts'
import { respond } from '../respond.ts'

/** "Stop this build" on a message. A shortcut cannot ask "sure?": the build is shown, and its own button does. */
export function stopByShortcut(door: Door, body: unknown): Promise<void> {
  const by = askerOf(body, 'shortcut')
  const target = messageOf(body)
  return respond(door, { what: 'stop', by, place: placeOf(door, body) }, (reference) =>
    whenMayRead({ operations: door.operations, by, reference }, () => offerStop(door, target, reference)),
  )
}

async function offerStop({ operations }: Door, target: Target | null, reference: string): Promise<Reply> {
  const asked = { command: 'stop', branch: null, reference } as const
  const found = target ? await operations.findBuild(target) : ({ kind: 'no-card' } as const)
  if (found.kind !== 'found') return { outcome: outcomeName(found), answer: answerNotFound(found, asked) }
  const outcome = whyNot(found.build)
  return outcome
    ? { outcome: outcome.kind, answer: answerAct(outcome, asked) }
    : { outcome: 'offered', answer: answerFound(found.build) }
}

/** Why there is no button to stop it; null where there is one, or somebody has asked already, which the build shows. */
function whyNot(build: BuildSummary): ActOutcome | null {
  if (build.offers.includes('stop') || isStillRunning(build)) return missingOf(build)
  return { kind: 'not-now', action: 'stop', build }
}

const isStillRunning = ({ shown }: BuildSummary): boolean => shown === 'started'

const missingOf = (build: BuildSummary): ActOutcome | null =>
  build.missing?.action === 'stop' ? { kind: 'impossible', action: 'stop', why: build.missing.why, build } : null
