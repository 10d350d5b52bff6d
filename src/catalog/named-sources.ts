import type { SourceName } from '../domain/ids.ts'
import { hasNameAlone, meantSources, nameKey, type Namesake, type Subscription } from '../domain/subscription.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/store.ts'

/** How old the answer may be to which sources have a project of a name. */
const KNOWN_FOR_MS = 5_000

/** A name in a subscription that names no source. */
export interface NameWithoutSource {
  name: string
  /** the sources that have a project of this name */
  known: readonly SourceName[]
  /** the sources whose project is meant, whether they have one already or not */
  meant: readonly SourceName[]
  /** the name that its source gives it now, if nothing is called by the old one any more */
  now: string | null
}

export interface Subscriptions {
  /** All subscriptions in force. Those by name alone have the sources that are meant. */
  all(): Promise<readonly Subscription[]>
  namesWithoutSource(): Promise<readonly NameWithoutSource[]>
}

export interface SubscriptionsDeps {
  /** those of the file and the settings */
  fixed: readonly Subscription[]
  /** null: there is no database yet */
  store: Pick<Store, 'read'> | null
  clock: Clock
  log: Pick<Log, 'warn'>
}

export function createSubscriptions({ fixed, store, clock, log }: SubscriptionsDeps): Subscriptions {
  const warned = new Set<string>()
  let last = { names: '', at: Number.NEGATIVE_INFINITY, byKey: new Map<string, NameWithoutSource>() }

  const inForce = async () => [...fixed, ...((await store?.read.subscriptions()) ?? [])]

  // All names at once, and seldom: subscriptions are read for every event, and projects are many.
  async function namesIn(subscriptions: readonly Subscription[]): Promise<ReadonlyMap<string, NameWithoutSource>> {
    const byName = subscriptions.flatMap(({ follows }) => (hasNameAlone(follows) ? [follows.name] : []))
    const names = JSON.stringify(byName)
    const at = clock.now()
    if (last.names === names && at - last.at < KNOWN_FOR_MS) return last.byKey
    const found = Map.groupBy((await store?.read.namesakes(byName)) ?? [], ({ name }) => nameKey(name))
    const unknown = byName.filter((name) => !found.has(nameKey(name)))
    const renamed = new Map((await store?.read.renamed(unknown))?.map((one) => [one.former, one]))
    const all = byName.map((name) => withoutSource(name, found.get(nameKey(name)) ?? [], renamed.get(nameKey(name))))
    all.forEach(warnOnce)
    last = { names, at, byKey: new Map(all.map((one) => [nameKey(one.name), one])) }
    return last.byKey
  }

  function warnOnce({ name, known, meant, now }: NameWithoutSource): void {
    const key = `${nameKey(name)} ${known.join(' ')} ${now}`
    if ((known.length < 2 && now === null) || warned.has(key)) return
    warned.add(key)
    if (now !== null)
      return log.warn(
        { project: name, now },
        'a subscription names a project by its old name: it follows it; correct it',
      )
    log.warn({ project: name, known, meant }, 'several sources have a project of the name that a subscription follows')
  }

  return {
    async all() {
      const subscriptions = await inForce()
      const names = await namesIn(subscriptions)
      return subscriptions.map((one) => withSources(one, names))
    },
    namesWithoutSource: async () => [...(await namesIn(await inForce())).values()],
  }
}

function withoutSource(
  name: string,
  namesakes: readonly Namesake[],
  renamed: { name: string; source: SourceName } | undefined,
): NameWithoutSource {
  if (renamed) return { name, known: [renamed.source], meant: [renamed.source], now: renamed.name }
  const known = [...new Set(namesakes.map(({ source }) => source))].sort()
  return { name, known, meant: meantSources(namesakes), now: null }
}

function withSources(one: Subscription, names: ReadonlyMap<string, NameWithoutSource>): Subscription {
  const { follows } = one
  if (!hasNameAlone(follows)) return one
  const found = names.get(nameKey(follows.name))
  if (!found) return one
  const { sources = found.meant } = follows
  const isRenamed = found.now !== null && sources.some((source) => found.meant.includes(source))
  return { ...one, follows: { ...follows, sources, ...(isRenamed && { name: found.now! }) } }
}
