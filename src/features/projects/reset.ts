import type { Uuid } from '../../domain/ids.ts'
import {
  beforeRecord,
  recordForProject,
  repeatedRequest,
  retryLookUp,
  type LookUpResult,
} from '../../projects/requests.ts'
import type { Project } from '../../domain/ci-project/project.ts'
import type { ProjectRequest } from '../../domain/cards/request.ts'
import type { ProjectRef } from '../../domain/ci-project/project-names.ts'
import { textOf } from '../../lib/raw-values.ts'
import { invariant } from '../../lib/assert.ts'
import type { Requester } from '../../projects/outcomes.ts'
import type { ProjectDeps, NotSent, SentInVain } from './outcomes.ts'
import { fieldDigest, refusalToAdminister, readAfresh, refOf } from './read.ts'
import { callForProject, endAnnounced, endUnclear } from './record.ts'

export type ResetOutcome =
  /** the new key, if CI returned it: shown only to the requester, stored nowhere */
  | { kind: 'reset'; project: ProjectRef; aesKey: string | null }
  | { kind: 'not-pro'; project: ProjectRef }
  | NotSent
  | SentInVain

const AES_KEY = 'aes_key'

interface Ready {
  kind: 'ready'
  request: ProjectRequest
  ref: ProjectRef
  before: Project
}

/**
 * Gives a Pro project a new AES key with one call. After an unclear call, compares the project's key, if CI shows it.
 * Only the outcome holds the new key. Throws NotAttempted if it fails before CI is asked to change anything.
 */
export async function resetAesKey(deps: ProjectDeps, uuid: Uuid, by: Requester): Promise<ResetOutcome> {
  const ready = await beforeRecord(makeReady(deps, uuid, by))
  return ready.kind === 'ready' ? send(deps, ready) : ready
}

async function makeReady(deps: ProjectDeps, uuid: Uuid, by: Requester): Promise<Ready | ResetOutcome> {
  const refusal = (await refusalToAdminister(deps, by)) ?? (await repeatedRequest(deps, by))
  if (refusal) return refusal
  const read = await readAfresh(deps, await refOf(deps, uuid))
  if (read.kind !== 'read') return read
  const { project: before, ref } = read
  if (before.type.trim().toLowerCase() !== 'pro') return { kind: 'not-pro', project: ref }
  const key = keyOf(before)
  const recorded = await recordForProject(
    deps,
    {
      action: 'reset-aes-key',
      project: ref.name,
      projectUuid: uuid,
      what: [AES_KEY],
      before: key === null ? {} : { [AES_KEY]: fieldDigest(AES_KEY, key, deps.digestKey) },
    },
    by,
  )
  return recorded.kind === 'recorded' ? { kind: 'ready', request: recorded.request, ref, before } : recorded
}

async function send(deps: ProjectDeps, ready: Ready): Promise<ResetOutcome> {
  const { ci } = deps
  const { request, ref, before } = ready
  invariant(ci, 'what was read can be written')
  const called = await callForProject(deps, request, () => ci.resetAesKey(before.uuid))
  if (called.kind === 'ci-refused') return called
  if (called.kind === 'unclear') {
    const seen = await retryLookUp(deps, () => lookUpKey(deps, ready))
    if (seen.kind !== 'shown') return endUnclear(deps, request, called.code, seen.kind)
    await endAnnounced(deps, request, { kind: 'shown' })
    return { kind: 'reset', project: ref, aesKey: seen.done }
  }
  const { aesKey } = called.answer
  const seen: LookUpResult<string> = aesKey === null ? await lookUpKey(deps, ready) : { kind: 'shown', done: aesKey }
  await endAnnounced(deps, request, { kind: 'shown' })
  return { kind: 'reset', project: ref, aesKey: seen.kind === 'shown' ? seen.done : null }
}

/** The new key, if CI shows a different one than before. */
async function lookUpKey(deps: ProjectDeps, { ref, before }: Ready): Promise<LookUpResult<string>> {
  const read = await readAfresh(deps, ref)
  if (read.kind !== 'read') return { kind: 'away' }
  const key = keyOf(read.project)
  // Without both keys there is nothing to compare.
  if (key === null || keyOf(before) === null) return { kind: 'away' }
  return key === keyOf(before) ? { kind: 'not-shown' } : { kind: 'shown', done: key }
}

const keyOf = ({ raw }: Project): string | null => textOf(raw[AES_KEY])
