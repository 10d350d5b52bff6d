import type { BranchEnd } from '../../src/domain/builds/streak.ts'
import { NO_DETAILS, type EndDetails } from '../../src/domain/builds/build-event.ts'
import { sourceOf, type SourceName } from '../../src/domain/ids.ts'
import { streamOf } from '../../src/domain/builds/stream.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { triggerOf as githubTrigger } from '../../src/sources/github/run.ts'
import { triggerOf as gitlabTrigger } from '../../src/sources/gitlab/pipeline.ts'
import { CiError } from '../../src/sources/http/errors.ts'
import { projectOf } from '../../src/sources/project.ts'
import type { Source } from '../../src/sources/source.ts'
import type { Trigger } from '../../src/sources/trigger.ts'
import { buildId, projectId, T0 } from '../support/build-events.ts'
import type { Delivery } from './builds.ts'
import type { Random } from './random.ts'

// GitHub and GitLab: what starts their builds, what a run's jobs say of its end, and branches that end.

/** Where builds run, and what starts them, in the source's own words. */
export interface Place {
  project: string
  branch: string
  event: string
  /** of the pull request */
  request?: string
}

const GITHUB = 'github:1:77'
const GITLAB = 'gitlab:7'

export const HOSTED_PLACES: readonly Place[] = [
  { project: GITHUB, branch: 'main', event: 'push' },
  { project: GITHUB, branch: 'main', event: 'schedule' },
  { project: GITHUB, branch: 'main', event: 'workflow_dispatch' },
  { project: GITHUB, branch: 'main', event: 'workflow_run' },
  { project: GITHUB, branch: 'main', event: 'an_event_of_next_year' },
  { project: GITHUB, branch: 'feature-x', event: 'push' },
  { project: GITHUB, branch: 'feature-x', event: 'pull_request', request: '87' },
  { project: GITHUB, branch: 'gh-readonly-queue/main/pr-87-a1b2c3', event: 'merge_group' },
  { project: GITLAB, branch: 'main', event: 'push' },
  { project: GITLAB, branch: 'main', event: 'schedule' },
  { project: GITLAB, branch: 'main', event: 'web' },
  { project: GITLAB, branch: 'main', event: 'parent_pipeline' },
  { project: GITLAB, branch: 'main', event: 'security_orchestration_policy' },
  { project: GITLAB, branch: '!15', event: 'merge_request_event' },
]

/** Both as the bot has stored them. Their names are those of no other project. */
export const HOSTED = [
  projectOf(projectId(GITHUB), { type: 'github', name: 'acme/api CI', defaultBranch: 'main' }),
  projectOf(projectId(GITLAB), { type: 'gitlab', name: 'acme/shop', defaultBranch: 'main' }),
]

/** The stream of a place, and whether its builds of one commit share a card, as its source's folder says. */
export function placed({ project, branch, event, request }: Place): { branch: string; sharesCard: boolean } {
  const trigger = triggerIn(sourceOf(project), { branch, event, pullRequests: request ? [request] : [] })
  return { branch: streamOf(branch, trigger.stream)!, sharesCard: trigger.sharesCard }
}

interface Started {
  branch: string
  event: string
  pullRequests: string[]
}

function triggerIn(source: SourceName, { branch, event, pullRequests }: Started): Trigger {
  if (source === 'github') return githubTrigger({ event, branch, pullRequests })
  return gitlabTrigger({ source: source === 'gitlab' ? event : null, ref: branch, isTag: false })
}

/** What the jobs of an attempt that has ended say: they have the last word. */
export interface JobsSay {
  word: string
  end: EndDetails
}

export function jobsOf(random: Random, word: string): JobsSay {
  const end = (how: EndDetails['how'] = null) => ({ isWhole: true, how, says: [] })
  if (word === 'stopped')
    return random.pick([
      { word, end: end() },
      { word: 'error', end: end('then-cancelled') },
      { word: 'error', end: end('timed-out') },
    ])
  if (word === 'infrastructure_failure' && random.chance(0.3)) return { word: 'error', end: end() }
  return { word, end: end() }
}

/** How a branch or request ended, and when (ms after the beginning). */
export interface Gone {
  after: number
  how: BranchEnd
}

/** The name under which a stream is asked about. */
export const streamName = (project: string, stream: string): string => `${project} ${stream}`

interface HostedOptions {
  clock: Clock
  random: Random
  truth: readonly Delivery[]
  gone: ReadonlyMap<string, Gone>
  /** whether every call is answered from now on */
  isWell: () => boolean
}

/** The hosted sources as the bot asks them. They may not answer. Nothing is restarted or stopped there. */
export function openHosted({ clock, random, truth, gone, isWell }: HostedOptions): Source {
  const since = () => clock.now() - T0

  async function look<T>(read: () => T): Promise<T> {
    await clock.sleep(random.between(0, ANSWERS_WITHIN_MS))
    if (!isWell() && random.chance(0.2)) throw new CiError({ kind: 'server', status: 500, purpose: 'read a run' })
    return read()
  }

  return {
    getProject: null,
    readBuild: async () => null,
    readProject: null,
    restart: null,
    stop: null,
    starter: null,
    decide: null,
    readDecisions: null,
    badge: null,
    readFailures: null,
    readEnd: ({ projectId: project, buildId: build, attempt, lastEndAt }) =>
      look(() => {
        const said = truth.filter((one) => one.said.build === build && one.after <= since())
        const end = said.findLast(
          ({ jobs, said: { details } }) =>
            jobs && (lastEndAt == null ? details?.attempt === attempt : details?.lastEndAt === lastEndAt),
        )
        // GitLab shows the newest attempt's jobs only.
        if (!end || (sourceOf(project) === 'gitlab' && end !== said.at(-1))) return null
        const { branch = null, commit = null, details } = end.said
        const { word: rawStatus, end: jobs } = end.jobs!
        return {
          projectId: projectId(project),
          buildId: buildId(build),
          branch,
          commitId: commit,
          rawStatus,
          details: { ...NO_DETAILS, ...details, end: jobs },
        }
      }),
    readBranch: ({ projectId: project, stream }) =>
      look(() => {
        const end = gone.get(streamName(project, stream))
        return end && end.after <= since() ? end.how : 'there'
      }),
  }
}

const ANSWERS_WITHIN_MS = 500
