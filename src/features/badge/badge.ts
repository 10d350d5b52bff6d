import { type BadgeClient, SVG_TYPE } from '../../sources/ci-service/badge.ts'
import { isPicture, type Picture } from '../../slack/picture/picture.ts'
import { type BadgeOutcome, type ProjectRef, troubleOf } from '../../catalog/outcomes.ts'
import type { FindDeps } from '../../catalog/find-build.ts'
import { sourceOf } from '../../domain/ids.ts'
import { findProject } from '../../catalog/projects.ts'

export interface BadgeDeps extends FindDeps {
  badges: BadgeClient | null
  /** an SVG as a PNG; null where it cannot be drawn */
  draw: (svg: Uint8Array) => Promise<Picture | null>
}

/** The state of a branch as CI's badge says it, with what to copy. The picture is an extra: without it all is said. */
export async function badge(deps: BadgeDeps, about: { project: string; branch: string | null }): Promise<BadgeOutcome> {
  const named = await findProject(deps.reads, about.project)
  if (named.kind === 'project' && sourceOf(named.project.projectId) !== 'ci')
    return { kind: 'no-uuid', project: named.project }
  // Without a site, a project that nobody knows is what can be said of GitHub's and GitLab's.
  const { github, gitlab } = deps.interfaces
  if (named.kind !== 'project' && (deps.badges || github || gitlab)) return named
  if (!deps.badges) return { kind: 'no-site' }
  if (named.kind !== 'project') return named
  const { project } = named
  const { uuid } = project
  if (uuid === null) return { kind: 'no-uuid', project }
  const url = deps.badges.urlOf(uuid, about.branch)
  const copied = { url, ...snippets(url, about.branch === null ? project.name : `${project.name} ${about.branch}`) }
  const common = { kind: 'badge', project, branch: about.branch, ...copied } as const
  try {
    const { contentType, bytes, words } = await deps.badges.fetchBadge(uuid, about.branch)
    const picture = contentType === SVG_TYPE ? await deps.draw(bytes) : asItIs(contentType, bytes)
    const said = words ?? (await lastWords(deps, project, about.branch))
    return { ...common, words: said, found: foundIn(words), picture, trouble: null }
  } catch (error) {
    const trouble = troubleOf(error)
    const found = trouble.code === 'not-found' ? 'no-project' : 'unknown'
    return { ...common, words: await lastWords(deps, project, about.branch), found, picture: null, trouble }
  }
}

/** Slack shows such pictures by itself. */
const asItIs = (contentType: string, bytes: Uint8Array) =>
  isPicture(contentType, bytes) ? { png: bytes, width: 0, height: 0 } : null

/** Where the badge says nothing: the state of the last build that CI told us of. */
async function lastWords(
  { reads }: BadgeDeps,
  { projectId }: ProjectRef,
  branch: string | null,
): Promise<string | null> {
  const build = projectId === null ? null : await reads.newestBuild(projectId, branch ?? undefined)
  return build && `last build: ${build.word}`
}

// A badge is a picture for strangers: what it could not find, it says in its words.
function foundIn(words: string | null): 'yes' | 'no-project' | 'no-branch' | 'unknown' {
  if (words === null) return 'unknown'
  if (/\bproject (?:not found|unknown)/i.test(words)) return 'no-project'
  return /\bbranch not found|\bunknown$/i.test(words) ? 'no-branch' : 'yes'
}

/** Markdown and HTML that show the badge, whatever the branch is called. */
function snippets(url: string, name: string): { markdown: string; html: string } {
  const label = `${name} build status`.replace(/\s+/g, ' ')
  const markdown = `![${label.replace(/[\\[\]`*_<>&!|]/g, String.raw`\$&`)}](<${url.replace(/[<>\\]/g, encodeURIComponent)}>)`
  return { markdown, html: `<img src="${attribute(url)}" alt="${attribute(label)}">` }
}

const attribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
