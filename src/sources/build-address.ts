import { isIdDigits, isUuid, sourceOf, toUuid, type SourceName, type Uuid } from '../domain/ids.ts'
import { isBelow, pathOf } from './http/address.ts'

// Addresses of builds, as people copy them from a browser.

/** The base address of each source's pages; null: not known. */
export type Sites = Readonly<Record<SourceName, URL | null>>

/** GitHub's pages, derived from the API's address, which has `api.` before the host, or `/api/v3` after it. */
export function githubSite(apiUrl: string): URL {
  const site = new URL(apiUrl)
  site.pathname = site.pathname.replace(/\/api\/v3\/?$/, '/')
  site.hostname = site.hostname.replace(/^api\./, '')
  return site
}

/** The form of each source's build addresses. They contain the build's id; the CI service's may contain its uuid instead. */
const FORMS: readonly (readonly [SourceName, RegExp])[] = [
  ['github', /\/actions\/runs\/([^/]+)/],
  ['gitlab', /\/-\/pipelines\/([^/]+)/],
  ['ci', /\/builds\/([^/]+)/],
]

export interface BuildAddress {
  url: URL
  source: SourceName
  build: { id: string } | { uuid: Uuid }
}

/** Null: it is not a build's address. */
export function readBuildAddress(text: string): BuildAddress | null {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return null
  for (const [source, form] of FORMS) {
    const name = form.exec(url.pathname)?.[1]
    if (name === undefined) continue
    if (isUuid(name)) return { url, source, build: { uuid: toUuid(name) } }
    return isIdDigits(name) ? { url, source, build: { id: name } } : null
  }
  return null
}

/** Whether it is an address of a known source's pages. */
export function isOfSites(text: string, sites: Sites): boolean {
  const url = URL.parse(text)
  return url !== null && Object.values(sites).some((site) => site !== null && isBelow(url, site))
}

interface Linked {
  projectId: string
  projectUuid: Uuid | null
  fullName: string
  /** its own link, as delivered */
  buildUrl: string | null
}

/** Whether it is the link of this build, or a page below it. */
export function isOwnLink({ url }: BuildAddress, { buildUrl }: Linked): boolean {
  const own = URL.parse(buildUrl ?? '')
  if (!own) return false
  // The link of a later attempt is also a page of the build.
  own.pathname = own.pathname.replace(/\/attempts\/\d+$/, '')
  return isBelow(url, own)
}

/** Whether it is a page of the source that names this build's project. The CI service may leave the project out. */
export function namesProject({ url, source }: BuildAddress, sites: Sites, build: Linked): boolean {
  const site = sites[source]
  if (!site || !isBelow(url, site) || sourceOf(build.projectId) !== source) return false
  const path = url.pathname.slice(pathOf(site).length)
  if (source !== 'ci') return path.toLowerCase().startsWith(`/${build.fullName.toLowerCase()}${AFTER[source]}`)
  const project = /\/projects\/([^/]+)\//.exec(path)?.[1]
  if (project === undefined) return true
  return isUuid(project)
    ? build.projectUuid === null || build.projectUuid === toUuid(project)
    : build.projectId === project
}

/** The path after the project's name. */
const AFTER = { github: '/actions/runs/', gitlab: '/-/pipelines/' } as const
