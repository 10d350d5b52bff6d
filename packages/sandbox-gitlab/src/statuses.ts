import { latestJobs, type Pipeline, type Status } from './state.ts'

/** A pipeline's status in the words of GitLab's pages. Source: GitLab, `lib/gitlab/ci/status/`. */
interface Words {
  text: string
  label: string
  icon: string
  group: string
}

/** `passed with warnings`: it passed, and a job that may fail has not. */
export function wordsOf(pipeline: Pipeline): Words {
  const { status } = pipeline
  if (status === 'success' && latestJobs(pipeline).some(isWarning)) return WARNING
  return Object.hasOwn(WORDS, status) ? WORDS[status] : words(status, status)
}

const isWarning = ({ allowFailure, status }: { allowFailure: boolean; status: Status }): boolean =>
  allowFailure && (status === 'failed' || status === 'canceled')

const words = (text: string, icon: string, changes: Partial<Words> = {}): Words => ({
  text,
  label: text.toLowerCase(),
  icon: `status_${icon}`,
  group: text.toLowerCase(),
  ...changes,
})

const WARNING = words('Warning', 'warning', { label: 'passed with warnings', group: 'success-with-warnings' })

const WORDS: Record<Status, Words> = {
  created: words('Created', 'created'),
  waiting_for_resource: words('Waiting', 'pending', { label: 'waiting for resource', group: 'waiting-for-resource' }),
  preparing: words('Preparing', 'preparing'),
  waiting_for_callback: words('Waiting', 'pending', { label: 'waiting for callback', group: 'waiting-for-callback' }),
  pending: words('Pending', 'pending'),
  running: words('Running', 'running'),
  manual: words('Blocked', 'manual', { label: 'waiting for manual action', group: 'manual' }),
  scheduled: words('Delayed', 'scheduled', { label: 'waiting for delayed job', group: 'scheduled' }),
  canceling: words('Canceling', 'canceled'),
  success: words('Passed', 'success', { group: 'success' }),
  failed: words('Failed', 'failed'),
  canceled: words('Canceled', 'canceled'),
  skipped: words('Skipped', 'skipped'),
}
