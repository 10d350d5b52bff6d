import { BY_HAND, MERGE_QUEUE, NIGHTLY, TAG } from '../../domain/builds/stream.ts'
import { PUSH, startedBy, unknownTrigger, type Trigger } from '../trigger.ts'

/** What GitLab says started a pipeline. */
interface Started {
  source: string | null
  ref: string | null
  isTag: boolean
}

/** Source: GitLab, `app/models/concerns/enums/ci/pipeline.rb`. */
export function triggerOf({ source, ref, isTag }: Started): Trigger {
  const trigger = bySource(source, ref)
  return isTag ? { ...trigger, stream: TAG, sharesCard: trigger === PUSH } : trigger
}

function bySource(source: string | null, ref: string | null): Trigger {
  switch (source) {
    case null:
    case 'push':
      return PUSH
    case 'merge_request_event':
      // The request's number is its branch.
      return TRAIN.test(ref ?? '') ? startedBy(MERGE_QUEUE) : { stream: null, person: 'opener', sharesCard: true }
    case 'schedule':
      return startedBy(NIGHTLY)
    case 'web':
      return startedBy(BY_HAND, 'starter')
    default:
      return unknownTrigger(source)
  }
}

/** A merge train: GitLab's merge queue. */
const TRAIN = /^refs\/merge-requests\/\d+\/train$/
