import { typedText } from '../../slack/commands/parse.ts'

/** The filters in `workflows:{…}`; empty: any. */
interface WorkflowFilter {
  names: readonly string[]
  events: readonly string[]
  branches: readonly string[]
  actors: readonly string[]
}

/** A repository as GitHub's Slack app lists it. */
export interface ListedRepository {
  /** `acme/web` */
  name: string
  /** what else is listed with it: `issues`, `pulls` */
  features: readonly string[]
  /** empty: workflows are not listed with it */
  workflows: readonly WorkflowFilter[]
}

interface GithubList {
  /** at most REPOSITORIES_MAX */
  repositories: readonly ListedRepository[]
  /** how many further ones there are */
  more: number
  /** a person's or an organization's name alone on its line: all of their repositories */
  accounts: readonly string[]
}

/** At most this many repositories of one list are looked up. */
export const REPOSITORIES_MAX = 50

/**
 * Reads what `/github subscribe list` prints, with or without `features`: each repository, then its features. The
 * format is undocumented and changes, so commas, bullets, line breaks and words around it make no difference.
 */
export function readGithubList(pasted: string): GithubList {
  const text = typedText(pasted).replaceAll('`', '')
  const found = new Map<string, Reading>()
  let current: Reading | undefined
  for (const { groups = {} } of text.matchAll(TOKEN)) {
    const name = repositoryIn(groups)
    if (name !== null) {
      current = found.get(name.toLowerCase()) ?? { name, features: new Set(), workflows: [] }
      found.set(name.toLowerCase(), current)
    } else if (current) addFeature(current, groups)
  }
  const all = [...found.values()].map((one) => ({ ...one, features: [...one.features] }))
  const repositories = all.slice(0, REPOSITORIES_MAX)
  return { repositories, more: all.length - repositories.length, accounts: accountsIn(text) }
}

interface Reading extends Pick<ListedRepository, 'name'> {
  features: Set<string>
  workflows: WorkflowFilter[]
}

/** An address; `workflows:{…}`, `commits:"main"`, `+label:bug`; or a word. An unclosed filter ends with its line. */
const TOKEN =
  /https?:\/\/[^\s/]+\/(?<path>[^\s,]+)|\+?(?<feature>[a-z]{2,30}): *(?:\{(?<filter>[^{}]*\}|[^{}\n]*)|"[^"\n]*")|\+?(?<valued>[a-z]{2,30}):[^\s,"{]+|(?<word>[^\s,]+)/giu

/** `acme/web` from `• acme/web:`, or from the address of any of its pages. */
function repositoryIn({ path, word = '' }: Groups): string | null {
  const [, name] = REPOSITORY.exec(path?.split('/', 2).join('/') ?? word) ?? []
  return name?.replace(/\.git$/, '') ?? null
}

const REPOSITORY = /^[^\w/]*([a-z\d][\w-]{0,38}\/[\w.-]{0,99}\w)[^\w/]*$/iu

function addFeature({ features, workflows }: Reading, { feature, filter, valued, word = '' }: Groups): void {
  const name = (feature ?? valued ?? word.replaceAll(/[^\w]/g, '')).toLowerCase()
  if (name === WORKFLOWS) workflows.push(readFilter(filter ?? ''))
  else if (feature !== undefined || valued !== undefined || FEATURES.has(name)) features.add(name)
}

type Groups = Partial<Record<string, string>>

const WORKFLOWS = 'workflows'

/** Features that are listed without a value. Other words are skipped. */
const FEATURES: ReadonlySet<string> = new Set([
  'issues',
  'pulls',
  'commits',
  'releases',
  'deployments',
  'reviews',
  'comments',
  'branches',
  'discussions',
  'statuses',
  'public',
])

/** `event:"pull_request","push" branch:"main"`, with and without quotes. */
function readFilter(filter: string): WorkflowFilter {
  const read: Record<string, string[]> = {}
  let values: string[] = []
  for (const [, quoted, key, bare] of filter.matchAll(FILTER)) {
    const value = (quoted ?? bare ?? '').trim()
    if (key !== undefined) values = read[key.toLowerCase()] ??= []
    else if (value !== '') values.push(value)
  }
  const { name: names = [], event: events = [], branch: branches = [], actor: actors = [] } = read
  return { names, events, branches, actors }
}

const FILTER = /"([^"]*)"|(\w+) *:|([^\s,"{}]+)/gu

const accountsIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.replaceAll(/^\W+|\W+$/g, ''))
    .filter((line) => ACCOUNT.test(line) && !NO_ACCOUNTS.has(line.toLowerCase()))

const ACCOUNT = /^[a-z\d][\w-]{0,38}$/iu

/** The app's own name above its message, and features on a line of their own. */
const NO_ACCOUNTS: ReadonlySet<string> = new Set(['github', 'app', WORKFLOWS, ...FEATURES])
