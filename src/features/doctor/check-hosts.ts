import { assertNever } from '../../lib/assert.ts'
import { counted } from '../../slack/messages/build.ts'
import type { Hook } from '../../sources/endpoint.ts'
import { githubHook } from '../../sources/github/endpoint.ts'
import { gitlabHook } from '../../sources/gitlab/endpoint.ts'
import { roleIn } from '../../sources/gitlab/pipeline.ts'
import { CiError, unlessGone } from '../../sources/http/errors.ts'
import type { Rate } from '../../sources/http/exchange.ts'
import { certificateIn, verdictOf } from './check-ci.ts'
import {
  bounded,
  fine,
  off,
  unsure,
  wrong,
  type Check,
  type DoctorDeps,
  type Examination,
  type Finding,
  type Say,
} from '../kit/check.ts'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import type { Refusal } from '../../sources/github/client.ts'

// The sources that have no list of projects: the settings name the projects.

const GITHUB = {
  name: 'github',
  title: 'GitHub',
  token: 'GITHUB_TOKEN',
  /** the alternative to the token, which may also be refused */
  orToken: ' or the key of the GitHub App',
  projects: 'GITHUB_REPOSITORIES',
  url: 'GITHUB_API_URL',
  right: 'Actions: Read and write',
  /** which right shows the webhooks */
  hooks: ['permission', 'Webhooks: Read-only'],
  events: 'Workflow runs',
  fine: (count: number) => `The runs of ${counted(count, 'repository', 'repositories')} can be read.`,
  /** Null: it is not set up. All calls throw CiErrors. */
  open: ({ github: client, config }: DoctorDeps) =>
    client && {
      projects: config.github.repositories,
      listBuilds: (name: string) => client.runs(name),
      hook: async (name: string) => githubHook(await client.hooks(name)),
      rate: (name: string) => client.rate(name),
      rights: (names: readonly string[], say: Say) => rightsAtGithub(client, names, say),
    },
} as const

const GITLAB = {
  name: 'gitlab',
  title: 'GitLab',
  token: 'GITLAB_TOKEN',
  orToken: '',
  projects: 'GITLAB_PROJECTS',
  url: 'GITLAB_URL',
  right: 'api',
  hooks: ['role', 'Maintainer'],
  events: 'Pipeline events',
  fine: (count: number) => `The pipelines of ${counted(count, 'project')} can be read.`,
  open: ({ gitlab: client, config }: DoctorDeps) =>
    client && {
      projects: config.gitlab.projects,
      listBuilds: (name: string) => client.pipelines(name),
      hook: async (name: string) => gitlabHook(await client.hooks(name)),
      rate: (name: string) => client.rate(name),
      rights: (names: readonly string[], say: Say) => rightsAtGitlab(client, names, say),
    },
} as const

type Host = typeof GITHUB | typeof GITLAB

export const github = checkOf(GITHUB)
export const gitlab = checkOf(GITLAB)

/**
 * Checks whether the token can read each project's builds, and if so, which rights it lacks, whether the webhook works
 * and how many calls are left.
 */
function checkOf(host: Host): Check {
  const { name, title } = host
  const refusedIn = (states: readonly State[], say: Say): Finding[] =>
    bounded(distinct(states.flatMap(({ project, error }) => (error ? [refusal(project, error, host, say)] : []))))
  async function look(examination: Examination) {
    const { say } = examination
    const opened = host.open(examination)
    if (!opened || opened.projects.length === 0) return { opened: null, readable: [], findings: [off(host.projects)] }
    const states = await Promise.all(opened.projects.map((project) => stateOf(project, opened)))
    const readable = states.flatMap(({ project, error }) => (error ? [] : [project]))
    const refused = refusedIn(states, say)
    const findings = [
      ...(refused.length > 0 ? refused : [fine(host.fine(readable.length))]),
      ...bounded(hooksFound(states, host, say)),
    ]
    return { opened, readable, findings }
  }
  return {
    name,
    title,
    calls: title,
    async atStart(examination) {
      const opened = host.open(examination)
      if (!opened) return []
      // Polling asks about the others, and the doctor about webhooks.
      const asked = opened.projects.slice(0, ASKED_AT_START)
      const states = await Promise.all(asked.map((project) => stateOf(project, { ...opened, hook: null })))
      return refusedIn(states, examination.say).map((one) => ({ ...one, verdict: 'wrong' }))
    },
    async run(examination) {
      const { say } = examination
      const { opened, readable, findings } = await look(examination)
      if (!opened) return findings
      // Best effort: the other findings are useful without the rate limit.
      const rate = await opened.rate(opened.projects[0]!).catch(() => null)
      return [...findings, ...(await opened.rights(readable, say)), ...(rate ? [ofRate(rate, host, say)] : [])]
    },
  }
}

/** A token that is refused is refused for every project, and is one finding. */
const distinct = (findings: readonly Finding[]): Finding[] => [
  ...new Map(findings.map((one) => [one.what, one])).values(),
]

/** `hidden`: the token cannot see the webhook. */
type HookState = Hook | { state: 'hidden' }

interface State {
  project: string
  hook?: HookState
  error?: CiError
}

/** At a start, this many projects show whether the token is good. */
const ASKED_AT_START = 10

/** @param host `hook` is null: only the builds are asked for */
async function stateOf(
  project: string,
  {
    listBuilds,
    hook,
  }: Pick<NonNullable<ReturnType<Host['open']>>, 'listBuilds'> & {
    hook: ((name: string) => Promise<Hook>) | null
  },
): Promise<State> {
  try {
    await listBuilds(project)
    if (!hook) return { project }
    return { project, hook: (await unlessGone(hook(project))) ?? { state: 'hidden' } }
  } catch (error) {
    if (!(error instanceof CiError)) throw error
    return { project, error }
  }
}

function refusal(project: string, error: CiError, { title, token, orToken, ...host }: Host, say: Say): Finding {
  const { kind, reason } = error
  const shown = say.code(project)
  if (kind === 'unauthorized')
    return wrong(
      `${title} does not accept ${say.code(token)}${orToken}.`,
      `Make a new one with the permission ${say.code(host.right)} and restart Buildline.`,
    )
  if (kind === 'forbidden' || kind === 'not-found')
    return wrong(
      `${title} does not show ${shown} to the token.${reason === undefined ? '' : ` It says: ${say.outside(reason)}`}`,
      `Give the token this project and the permission ${say.code(host.right)}, or correct ${say.code(host.projects)} (or ${say.code(host.url)}, if it is set).`,
    )
  return {
    verdict: verdictOf(error),
    ...(certificateIn(error, { server: title, address: host.url }, say) ?? {
      what: `The request to ${title} about ${shown} failed (${kind}).`,
      remedy: `Try again in a few minutes. If it keeps failing, check ${say.code(host.url)}, and that this machine can reach it.`,
    }),
  }
}

/** One finding for all projects whose webhooks are in the same state. */
const hooksFound = (states: readonly { project: string; hook?: HookState }[], host: Host, say: Say): Finding[] =>
  [...Map.groupBy(states, ({ hook }) => JSON.stringify(hook)).values()].flatMap((same) => {
    const { hook } = same[0]!
    if (!hook || hook.state === 'fine') return []
    return [
      ofHook(
        hook,
        same.map(({ project }) => project),
        host,
        say,
      ),
    ]
  })

const NAMES_SHOWN = 3

/** Without a webhook, polling finds each build within seconds. */
function ofHook(
  hook: Exclude<HookState, { state: 'fine' }>,
  projects: readonly string[],
  { name, title, hooks: [kind, right], events }: Host,
  say: Say,
): Finding {
  const more = projects.length > NAMES_SHOWN ? [`${projects.length - NAMES_SHOWN} more`] : []
  const where = [...projects.slice(0, NAMES_SHOWN).map(say.code), ...more].join(', ')
  const settings = `in the settings at ${title}`
  switch (hook.state) {
    case 'hidden':
      return off(`the token cannot see the webhooks of ${where} without the ${kind} ${say.code(right)}`)
    case 'none':
      return off(
        `no webhook to ${say.code(`https://<host>/webhooks/${name}`)} in ${where}; polling finds builds within seconds`,
      )
    case 'off':
      return wrong(`The webhook of ${where} is switched off.`, `Switch it on ${settings}.`)
    case 'no-events':
      return wrong(`The webhook of ${where} does not send builds.`, `Select ${say.code(events)} ${settings}.`)
    case 'form':
      return wrong(
        `The webhook of ${where} sends forms, which Buildline refuses.`,
        `Set its content type to ${say.code('application/json')} ${settings}.`,
      )
    case 'failing':
      return wrong(
        `The last delivery for ${where} failed (${say.outside(hook.said)}). Polling finds builds until it works.`,
        `Check that ${title} can reach its address, and that its secret is ${say.code(`${name.toUpperCase()}_WEBHOOK_SECRET`)}.`,
      )
    default:
      return assertNever(hook)
  }
}

function ofRate({ left, limit, resetAt }: Rate, { title, token }: Host, say: Say): Finding {
  const what = `${left} of ${limit} calls to ${title} are left until ${say.time(resetAt)}.`
  return left * 10 >= limit
    ? fine(what)
    : unsure(what, `Find out what else uses ${say.code(token)}, or give Buildline its own token.`)
}

// Which rights a token lacks, where nothing else than the right is missing. Some may be missing on purpose.

type Github = NonNullable<DoctorDeps['github']>

/** The permissions that the calls of this check and of the bot's work have shown to be missing. */
async function rightsAtGithub(client: Github, repositories: readonly string[], say: Say): Promise<Finding[]> {
  // A token has the same permissions in all repositories of an owner.
  const ofOwners = Map.groupBy(repositories, (name) => name.split('/')[0]!.toLowerCase()).values()
  await Promise.all([...ofOwners].map(([first]) => tryRights(client, first!)))
  // Webhooks have a finding of their own.
  const lacking = client.refusals().filter(({ needs }) => !needs.startsWith('repository_hooks='))
  return [...Map.groupBy(lacking, ({ needs }) => needs)]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([needs, refused]) => unsure(refusedWords(refused, needs, say), remedyFor(needs, say)))
}

/** No run has this id, so nothing can be cancelled. */
const NO_RUN = '0'

/**
 * Makes one call of each kind that may need a separate permission, and changes nothing. Whether GitHub checks the
 * permission before it looks for the run is not documented: if it does not, a missing right to write shows only when a
 * person uses it.
 */
async function tryRights(client: Github, repository: string): Promise<void> {
  const answer = await client.runs(repository).catch(orNothing)
  const runs = !answer || answer === 'unchanged' ? [] : answer.runs
  const of = (run: unknown, field: string) => textOf(fieldOf(run, field)) ?? ''
  const failed = runs.find((run) => of(run, 'conclusion') === 'failure')
  const workflowOf = (run: unknown) => client.file(repository, of(run, 'path').replace(/@.*/, ''), of(run, 'head_sha'))
  const whatFailed = async (run: unknown) => {
    const [job] = await client.failedJobs(repository, of(run, 'id'), Number(of(run, 'run_attempt')))
    if (job) await client.annotations(repository, job.id)
  }
  const calls: Promise<unknown>[] = [client.cancel(repository, NO_RUN, 'change runs')]
  if (runs.length > 0) calls.push(workflowOf(runs[0]))
  if (failed !== undefined) calls.push(whatFailed(failed))
  await Promise.all(calls.map((call) => call.catch(orNothing)))
}

/** What a call lacks is in `refusals`; any other failure says nothing about rights. */
function orNothing(error: unknown): void {
  if (!(error instanceof CiError)) throw error
}

function refusedWords(refused: readonly Refusal[], needs: string, say: Say): string {
  const calls = new Set(refused.map(({ purpose }) => purpose))
  const where = new Set(refused.map(({ repository }) => say.code(repository)))
  return `GitHub refuses to ${[...calls].join(', and to ')} (${[...where].slice(0, 3).join(', ')}): the token lacks ${permissionWords(needs, say)}.`
}

/** `checks=read; actions=write,contents=read` as GitHub's pages name them. */
function permissionWords(needs: string, say: Say): string {
  const permissions = (set: string) => set.split(',').map((one) => say.code(permissionName(one.trim())))
  const sets = needs.split(';').map((set) => permissions(set).join(' and '))
  return sets.join(', or ')
}

function permissionName(permission: string): string {
  const [name = '', level = ''] = permission.split('=')
  return `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}: ${LEVELS[level] ?? level}`
}

const LEVELS: Readonly<Record<string, string>> = { read: 'Read-only', write: 'Read and write' }

/** A fine-grained token cannot have *Checks*. Source: GitHub's community, discussion 179545. */
const remedyFor = (needs: string, say: Say): string =>
  needs === 'checks=read'
    ? `Only a GitHub App and a classic token with ${say.code('repo')} can have it. Without it, cards show the end of the log instead of annotations.`
    : 'Give it to the token, whose owner needs the right as well, or do without. What people tried is repeated here until it is tried again, or Buildline restarts.'

type Gitlab = NonNullable<DoctorDeps['gitlab']>

/** GitLab's number for the role. */
const DEVELOPER = 30

const WRITES = 'Restart, Stop, Approve…, Reject…, Run… and /ci run'

/** Whether the token may write: its scope, and its owner's role. GitLab may still want a higher one for a protected branch. */
async function rightsAtGitlab(client: Gitlab, projects: readonly string[], say: Say): Promise<Finding[]> {
  const scopes = await client.scopes().catch(orNothing)
  if (scopes && !scopes.includes('api'))
    return [
      unsure(
        `The token lacks the scope ${say.code('api')}, so ${WRITES} fail.`,
        `Make one with it and the role ${say.code('Developer')}, or do without.`,
      ),
    ]
  const roles = await Promise.all(
    projects.map(async (name) => ({ name, role: roleIn(await client.project(name).catch(orNothing)) })),
  )
  const low = roles.flatMap(({ name, role }) => (role !== null && role < DEVELOPER ? [say.code(name)] : []))
  if (low.length === 0) return []
  return [
    unsure(
      `The token's role in ${low.join(', ')} is too low for ${WRITES}.`,
      `Give its owner the role ${say.code('Developer')} there, or do without.`,
    ),
  ]
}
