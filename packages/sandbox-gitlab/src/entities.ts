import { hash } from 'node:crypto'
import { projectOf, ROLES } from './state.ts'
import type { MergeRequest, Pipeline, Project, World } from './state.ts'
import { wordsOf } from './statuses.ts'

/** The token's owner, who by default triggers every pipeline. Never the commit's author, so that a client that mixes them up is noticed. */
export const USER = { id: 42, name: 'Release Robot', username: 'robot', avatar_url: 'https://gitlab.example/42.png' }

/** A person's account, called by their name in lower case: `grace-hopper`. */
export function accountOf(name: string): typeof USER {
  const username = name.toLowerCase().replaceAll(/\W+/g, '-')
  const id = Number.parseInt(hash('sha1', username).slice(0, 7), 16)
  return { id, name, username, avatar_url: `https://gitlab.example/${id}.png` }
}

/** The token's owner, or another person. */
export const personOf = (name: string): typeof USER => (name === USER.name ? USER : accountOf(name))

export const triggererOf = ({ user }: Pick<Pipeline, 'user'>): typeof USER => personOf(user ?? USER.name)

export type Write = (ms: number | null) => string | null
export const isoTime: Write = (ms) => (ms === null ? null : new Date(ms).toISOString())

/** Source: GitLab, `lib/api/entities/user_basic.rb`. */
export const userEntity = ({ siteUrl }: World, user: typeof USER = USER) => ({
  ...user,
  public_email: '',
  state: 'active',
  locked: false,
  web_url: `${siteUrl}/${user.username}`,
})

/** A file with its text. Source: GitLab, `lib/api/files.rb`. */
export function fileEntity(file_path: string, text: string, ref: string) {
  const sha = hash('sha1', text)
  const content = { encoding: 'base64', content: Buffer.from(text).toString('base64') }
  const commits = { blob_id: sha, commit_id: sha, last_commit_id: sha, content_sha256: hash('sha256', text) }
  const named = { file_name: file_path.split('/').at(-1)!, file_path, size: Buffer.byteLength(text), ref }
  return { ...named, ...content, ...commits, execute_filemode: false }
}

export const PROJECT_SINCE = '2020-05-07T04:27:17.016Z'

/** A project, without its settings. Source: GitLab, `lib/api/entities/basic_project_details.rb`. */
export function projectEntity({ siteUrl, switches }: World, { id, path: path_with_namespace, defaultBranch }: Project) {
  const names = path_with_namespace.split('/')
  const [path, namespace] = [names.at(-1)!, names.slice(0, -1)]
  const web_url = `${siteUrl}/${path_with_namespace}`
  return {
    id,
    description: null,
    name: path,
    name_with_namespace: names.join(' / '),
    path,
    path_with_namespace,
    created_at: PROJECT_SINCE,
    default_branch: defaultBranch,
    topics: [],
    ssh_url_to_repo: `git@${new URL(siteUrl).hostname}:${path_with_namespace}.git`,
    http_url_to_repo: `${web_url}.git`,
    web_url,
    readme_url: `${web_url}/-/blob/${defaultBranch}/README.md`,
    avatar_url: null,
    forks_count: 0,
    star_count: 0,
    last_activity_at: PROJECT_SINCE,
    namespace: {
      id: 900 + id,
      name: namespace.at(-1)!,
      path: namespace.at(-1)!,
      kind: 'group',
      full_path: namespace.join('/'),
      parent_id: null,
      avatar_url: null,
      web_url: `${siteUrl}/groups/${namespace.join('/')}`,
    },
    visibility: 'public' as const,
    archived: false,
    ...(!switches.isFree && { allow_pipeline_trigger_approve_deployment: switches.mayApproveOwn }),
    permissions: {
      project_access: { access_level: ROLES[switches.role], notification_level: 3 },
      group_access: null,
    },
  }
}

/** A pipeline within another answer. Source: GitLab, `lib/api/entities/ci/pipeline_basic.rb`. */
export function pipelineBasic(world: World, pipeline: Pipeline) {
  const { id, iid, projectId: project_id, sha, status, source } = pipeline
  const times = { created_at: isoTime(pipeline.createdAt)!, updated_at: isoTime(pipeline.updatedAt)! }
  const web_url = webUrl(world, pipeline, 'pipelines', id)
  return { id, iid, project_id, sha, ref: refOf(pipeline), status, source, ...times, web_url }
}

export const refOf = ({ mergeRequest, branch }: Pipeline): string =>
  mergeRequest ? `refs/merge-requests/${mergeRequest.iid}/head` : branch

export const webUrl = (world: World, within: Pick<Pipeline, 'projectId'>, kind: string, id: number | string): string =>
  `${world.siteUrl}/${projectOf(world, within).path}/-/${kind}/${id}`

/** The project that every fork is. */
export const FORK_ID = 99

export const requestId = (iid: number): number => 5_000 + iid

export const stateOf = ({ closed }: MergeRequest) =>
  closed === null ? 'opened' : closed.isMerged ? 'merged' : 'closed'

/** The answer to a retry or cancel. Source: GitLab, `lib/api/entities/ci/pipeline.rb`. */
export const pipelineEntity = (world: World, pipeline: Pipeline) => ({
  ...pipelineBasic(world, pipeline),
  ...pipelineDetails(pipeline, isoTime),
  updated_at: isoTime(pipeline.updatedAt)!,
  yaml_errors: pipeline.yamlErrors,
  user: userEntity(world, triggererOf(pipeline)),
  started_at: isoTime(pipeline.startedAt),
  committed_at: null,
  coverage: null,
  detailed_status: detailedStatus(world, pipeline),
  archived: false,
})

/** The name comes from `workflow:name`; a list and a single pipeline have it, other answers do not. */
export const named = <Entity extends object>(entity: Entity) => ({ ...entity, name: null })

/** The details of a pipeline that both the REST interface and the hook have. */
export const pipelineDetails = (pipeline: Pipeline, write: Write) => ({
  tag: pipeline.tag,
  before_sha: '0'.repeat(40),
  created_at: write(pipeline.createdAt)!,
  finished_at: write(pipeline.finishedAt),
  duration: pipeline.durationS,
  // GitLab says null instead of 0.
  queued_duration: Math.floor(secondsBetween(pipeline.createdAt, pipeline.startedAt) ?? 0) || null,
})

const secondsBetween = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : (to - from) / 1_000

/** Source: GitLab, `app/serializers/detailed_status_entity.rb`. */
function detailedStatus(world: World, pipeline: Pipeline) {
  const { icon, text, label, group } = wordsOf(pipeline)
  const details_path = new URL(webUrl(world, pipeline, 'pipelines', pipeline.id)).pathname
  const favicon = `/assets/ci_favicons/fav${icon}.png`
  return { icon, text, label, group, tooltip: label, has_details: true, details_path, illustration: null, favicon }
}

/** What a pipeline says about its commit. */
export type Commit = Pick<Pipeline, 'projectId' | 'sha' | 'message' | 'author' | 'createdAt'>

/** A commit within another answer. Source: GitLab, `lib/api/entities/commit.rb`. */
export function commitBasic(world: World, commit: Commit) {
  const { sha: id, message, author } = commit
  const at = isoTime(commit.createdAt)!
  const web_url = webUrl(world, commit, 'commit', id)
  const names = { author_name: author.name, author_email: author.email }
  return {
    id,
    short_id: id.slice(0, 8),
    created_at: at,
    parent_ids: [],
    title: titleOf(commit),
    message,
    ...names,
    authored_date: at,
    committer_name: author.name,
    committer_email: author.email,
    committed_date: at,
    trailers: {},
    extended_trailers: {},
    web_url,
  }
}

/** The commit of a pipeline. Source: GitLab, `lib/api/entities/commit_detail.rb`. */
export const commitEntity = (world: World, pipeline: Pipeline) => ({
  ...commitBasic(world, pipeline),
  stats: { additions: 1, deletions: 0, total: 1 },
  status: pipeline.status,
  project_id: pipeline.projectId,
  last_pipeline: pipelineBasic(world, pipeline),
})

export const titleOf = ({ message }: Pick<Pipeline, 'message'>): string => message.split('\n', 1)[0]!
