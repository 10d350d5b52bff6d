import { BY_HAND, MERGE_QUEUE, NIGHTLY } from '../../domain/builds/stream.ts'
import { PUSH, startedBy, unknownTrigger, type Trigger } from '../trigger.ts'

/** What GitHub says started a run. */
interface Started {
  event: string | null
  branch: string | null
  /** the pull requests with this branch; GitHub names none for a fork's */
  pullRequests: readonly string[]
}

/** Source: GitHub, "Events that trigger workflows". */
export function triggerOf({ event, branch, pullRequests }: Started): Trigger {
  // A workflow that runs on every push also runs on the pushes to the queue's own branches.
  const queued = QUEUE.exec(branch ?? '')
  if (event === 'merge_group' || queued) return startedBy(joined(queued?.[1], MERGE_QUEUE))
  switch (event) {
    case null:
    case 'push':
      return PUSH
    case 'pull_request': {
      // GitHub lists every open request with this branch. With several, it does not say which one this run is for.
      const [number, ...more] = pullRequests
      return startedBy(number === undefined || more.length > 0 ? 'pull request' : `#${number}`, 'opener')
    }
    case 'schedule':
      return startedBy(NIGHTLY)
    case 'workflow_dispatch':
      return startedBy(BY_HAND, 'starter')
    default:
      return unknownTrigger(event)
  }
}

/** A merge queue's branch, with the number of its pull request. Source: GitHub, "Managing a merge queue". */
const QUEUE = /^gh-readonly-queue\/.+\/pr-(\d+)-[0-9a-f]+$/

const joined = (number: string | undefined, trigger: string): string =>
  number === undefined ? trigger : `#${number} · ${trigger}`
