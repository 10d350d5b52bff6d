import { type BadgeClient, SVG_TYPE } from '../../sources/ci-service/badge.ts'
import { isPicture } from '../../slack/picture/picture.ts'
import { type ProjectRef, ciFailureOf, type CiFailure, type NotFound } from '../../projects/outcomes.ts'
import type { FindDeps } from '../../projects/find-build.ts'
import { isProjectId, sourceOf } from '../../domain/ids.ts'
import type { Sources } from '../../sources/source.ts'
import { INLINE_URL_CHARS_MAX } from '../../slack/messages/limits.ts'
import { httpUrl } from '../../lib/escape.ts'
import { findProject } from '../../projects/projects.ts'

export type BadgeOutcome =
  | {
      kind: 'badge'
      project: ProjectRef
      branch: string | null
      /** what the badge says, else the state of the last build; outside text */
      words: string | null
      /** what the badge shows about the project and branch */
      found: 'yes' | 'no-project' | 'no-branch' | 'unknown'
      /** shows the badge, escaped for any branch name */
      markdown: string
      /** PNG, GIF or JPEG; null if there is none that Slack can show */
      picture: Uint8Array | null
      failure: CiFailure | null
    }
  | { kind: 'no-site' }
  | { kind: 'no-uuid'; project: ProjectRef }
  | NotFound

export interface BadgeDeps extends FindDeps {
  sources: Sources
  badges: BadgeClient | null
  /** an SVG as a PNG; null if it cannot be drawn */
  draw: (svg: Uint8Array) => Promise<Uint8Array | null>
}

/** The state of a branch as CI's badge shows it, and its Markdown to copy. Complete even without the picture. */
export async function findBadge(
  deps: BadgeDeps,
  about: { project: string; branch: string | null },
): Promise<BadgeOutcome> {
  const named = await findProject(deps.store.read, about.project)
  if (named.kind === 'project' && sourceOf(named.project.projectId) !== 'ci')
    return hostedBadge(deps, named.project, about.branch)
  // "Not found", not "no site": the unknown project may be one of GitHub or GitLab.
  const { github, gitlab } = deps.configured
  if (named.kind !== 'project' && (deps.badges || github || gitlab)) return named
  if (!deps.badges) return { kind: 'no-site' }
  if (named.kind !== 'project') return named
  const { project } = named
  const { uuid } = project
  if (uuid === null) return { kind: 'no-uuid', project }
  const url = deps.badges.urlOf(uuid, about.branch)
  const markdown = markdownOf(url, project, about.branch)
  const common = { kind: 'badge', project, branch: about.branch, markdown } as const
  try {
    const { contentType, bytes, words } = await deps.badges.fetchBadge(uuid, about.branch)
    const asItIs = isPicture(contentType, bytes) ? bytes : null
    const picture = contentType === SVG_TYPE ? await deps.draw(bytes) : asItIs
    const said = words ?? (await lastWords(deps, project, about.branch))
    return { ...common, words: said, found: foundIn(words), picture, failure: null }
  } catch (error) {
    const failure = ciFailureOf(error)
    const found = failure.code === 'not-found' ? 'no-project' : 'unknown'
    return { ...common, words: await lastWords(deps, project, about.branch), found, picture: null, failure }
  }
}

/** Badges of GitHub and GitLab may need a login, so only the Markdown is given. The words come from the last build. */
async function hostedBadge(deps: BadgeDeps, project: ProjectRef, branch: string | null): Promise<BadgeOutcome> {
  const { projectId } = project
  if (projectId === null || !isProjectId(projectId)) return { kind: 'no-uuid', project }
  const source = deps.sources(projectId)
  const named = await source?.badge?.(projectId, branch).catch((error: unknown) => void ciFailureOf(error))
  const url = httpUrl(named ?? null, INLINE_URL_CHARS_MAX)
  if (url === null) return { kind: 'no-uuid', project }
  const words = await lastWords(deps, project, branch)
  const said = { words, found: 'yes', picture: null, failure: null } as const
  return { kind: 'badge', project, branch, markdown: markdownOf(url, project, branch), ...said }
}

/** The state of the last known build, for a badge without words. */
async function lastWords(
  { store }: BadgeDeps,
  { projectId }: ProjectRef,
  branch: string | null,
): Promise<string | null> {
  const build = projectId === null ? null : await store.read.newestBuild(projectId, branch ?? undefined)
  return build && `last build: ${build.rawStatus}`
}

// CI draws a badge even for an unknown project or branch. Only the badge's words say so.
function foundIn(words: string | null): Extract<BadgeOutcome, { kind: 'badge' }>['found'] {
  if (words === null) return 'unknown'
  if (/\bproject (?:not found|unknown)/i.test(words)) return 'no-project'
  return /\bbranch not found|\bunknown$/i.test(words) ? 'no-branch' : 'yes'
}

function markdownOf(url: string, { name }: ProjectRef, branch: string | null): string {
  const label = `${branch === null ? name : `${name} ${branch}`} build status`.replace(/\s+/g, ' ')
  return `![${label.replace(/[\\[\]`*_<>&!|]/g, String.raw`\$&`)}](<${url.replace(/[<>\\]/g, encodeURIComponent)}>)`
}
