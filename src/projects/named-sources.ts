import { SOURCES, sourceOf, type ChannelId, type SourceName } from '../domain/ids.ts'
import { nameKey, type Follows, type Subscription } from '../domain/rules/subscription.ts'
import type { Clock } from '../lib/clock.ts'
import { together } from '../lib/async.ts'
import type { Log } from '../lib/log.ts'
import { withClosings } from './followers.ts'
import type { Namesake, Renamed } from '../store/records.ts'
import type { Reads, Store } from '../store/store.ts'

/** How long the sources of a project name are cached. */
const KNOWN_FOR_MS = 5_000

export interface SubscriptionsDeps {
  /** those of the file and the settings */
  fixed: readonly Subscription[]
  /** null: there is no database yet */
  store: Pick<Store, 'read'> | null
  clock: Clock
  log: Pick<Log, 'warn'>
}

/**
 * Reads all subscriptions in force. One that names its project without a source gets the sources that are meant; one in a
 * closed channel is marked.
 */
export function createSubscriptions({ fixed, store, clock, log }: SubscriptionsDeps) {
  const warned = new Set<string>()
  const resolveFixed = createResolver()
  const resolveStored = createResolver()

  /** Finds the sources of project names. Caches them, because it is asked for every event, and there may be many. */
  function createResolver() {
    let known = { names: '', at: Number.NEGATIVE_INFINITY, byKey: new Map<string, NamedProject>() }
    let last: { of: readonly Subscription[]; at: number; named: readonly Subscription[] } | null = null

    return async (subscriptions: readonly Subscription[]): Promise<readonly Subscription[]> => {
      const isRecent = clock.now() - known.at < KNOWN_FOR_MS
      if (isRecent && last?.of === subscriptions && last.at === known.at) return last.named
      const projects = subscriptions.flatMap(({ follows }) => (hasNameAlone(follows) ? [follows] : []))
      const names = JSON.stringify(projects)
      if (!isRecent || names !== known.names) known = { names, at: clock.now(), byKey: await lookUp(projects) }
      last = { of: subscriptions, at: known.at, named: subscriptions.map((one) => withSources(one, known.byKey)) }
      return last.named
    }
  }

  async function lookUp(projects: readonly OneProject[]): Promise<Map<string, NamedProject>> {
    if (!store || projects.length === 0) return new Map()
    const all = projects.map(({ name }) => name)
    const found = Map.groupBy(await store.read.namesakes(all), ({ name }) => nameKey(name))
    const unknown = all.filter((name) => !found.has(nameKey(name)))
    const renamed = new Map((await store.read.renamed(unknown)).map((one) => [one.former, one]))
    const read = projects.map((one): [string, NamedProject] => {
      const key = nameKey(one.name)
      return [keyOf(one), namedProject(one, found.get(key) ?? [], renamed.get(key))]
    })
    for (const [, one] of read) warnOnce(one)
    return new Map(read)
  }

  function warnOnce({ name, known, meant, now, namesSource }: NamedProject): void {
    const key = `${nameKey(name)} ${known.join(' ')} ${now}`
    if ((now === null && (namesSource || known.length < 2)) || warned.has(key)) return
    warned.add(key)
    if (now !== null)
      return log.warn(
        { project: name, now },
        'a subscription names a project by its old name: its builds are still posted, but correct the name',
      )
    log.warn({ project: name, known, meant }, 'several sources have a project of the name that a subscription follows')
  }

  return async (reads: Reads | undefined = store?.read): Promise<readonly Subscription[]> => {
    const [moved, stored, closed] = reads
      ? await together([reads.movedChannels(), reads.subscriptions(), reads.closedChannels()])
      : [new Map<ChannelId, ChannelId>(), [], []]
    const kept =
      moved.size === 0 ? fixed : fixed.map((one) => ({ ...one, channel: moved.get(one.channel) ?? one.channel }))
    return withClosings([...(await resolveFixed(kept)), ...(await resolveStored(stored))], closed)
  }
}

type OneProject = Extract<Follows, { what: 'project' }>

/** Whether the subscription has only a name, which may pass to another project. */
const hasNameAlone = (follows: Follows): follows is OneProject =>
  follows.what === 'project' && !follows.uuid && !follows.projectId

/**
 * The sources that a name means if its subscription names none. A project that only the CI service's deliveries name
 * does not count beside another source's: these deliveries are not signed, so somebody may have forged it to post
 * there.
 */
export function meantSources(namesakes: readonly Omit<Namesake, 'id'>[]): readonly SourceName[] {
  const isCiMeant = namesakes.every(({ source }) => source === 'ci') || namesakes.some(({ isListed }) => isListed)
  return isCiMeant ? SOURCES : SOURCES.filter((source) => source !== 'ci')
}

const keyOf = ({ name, sources }: OneProject): string => JSON.stringify([nameKey(name), sources ?? null])

/** A project name in a subscription. */
interface NamedProject {
  name: string
  /** the sources that have a project of this name */
  known: readonly SourceName[]
  /** the sources whose project is meant, even if they have none yet */
  meant: readonly SourceName[]
  /** its current name at its source, if no project has the old one any more */
  now: string | null
  /** the subscription names the project's source */
  namesSource: boolean
  /** the projects and repositories of GitHub and GitLab that are meant: they are still followed once they are renamed */
  ids: readonly string[]
}

function namedProject(
  { name, sources }: OneProject,
  namesakes: readonly Namesake[],
  renamed: Renamed | undefined,
): NamedProject {
  const namesSource = sources !== undefined
  const source = renamed && sourceOf(renamed.id)
  if (renamed && source && (sources?.includes(source) ?? true))
    return { name, known: [source], meant: [source], now: renamed.name, namesSource, ids: [renamed.id] }
  const known = [...new Set(namesakes.map((one) => one.source))].sort()
  const ids = namesakes.flatMap(({ id }) => id ?? [])
  return { name, known, meant: sources ?? meantSources(namesakes), now: null, namesSource, ids }
}

function withSources(one: Subscription, names: ReadonlyMap<string, NamedProject>): Subscription {
  const { follows } = one
  const found = hasNameAlone(follows) ? names.get(keyOf(follows)) : undefined
  if (!found || !hasNameAlone(follows)) return one
  return { ...one, follows: { ...follows, name: found.now ?? follows.name, sources: found.meant, ids: found.ids } }
}
