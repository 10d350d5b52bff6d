import { fieldOf, textOf } from '../../lib/raw-values.ts'
import type { Refusal } from '../../sources/github/client.ts'
import { CiError } from '../../sources/http/errors.ts'
import { unsure, type DoctorDeps, type Finding } from '../kit/check.ts'
import type { Say } from '../kit/say.ts'

// Which rights a token lacks, where nothing else than the right is missing. Some may be missing on purpose.

type Github = NonNullable<DoctorDeps['github']>

/** The permissions that the calls of this check and of the bot's work have shown to be missing. */
export async function rightsAtGithub(client: Github, repositories: readonly string[], say: Say): Promise<Finding[]> {
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
const permissionWords = (needs: string, say: Say): string =>
  needs
    .split(';')
    .map((set) =>
      set
        .split(',')
        .map((one) => say.code(permissionName(one.trim())))
        .join(' and '),
    )
    .join(', or ')

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

const WRITES = 'Restart, Stop, Run… and /ci run'

/** Whether the token may write: its scope, and its owner's role. GitLab may still want a higher one for a protected branch. */
export async function rightsAtGitlab(client: Gitlab, projects: readonly string[], say: Say): Promise<Finding[]> {
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

/** Null if GitLab shows none: to an administrator, or where the project is shared with the owner's group. */
function roleIn(project: unknown): number | null {
  const permissions = fieldOf(project, 'permissions')
  const levels = ['project_access', 'group_access']
    .map((kind) => Number(textOf(fieldOf(fieldOf(permissions, kind), 'access_level'))))
    .filter((level) => level > 0)
  return levels.length === 0 ? null : Math.max(...levels)
}
