import { CiError } from '../http/errors.ts'
import type { ListPage } from './wire.ts'

/** The most pages that one listing reads; beyond it the listing says `truncated`. */
export const PAGES_MAX = 200

export interface LoadedPage<Item> extends ListPage<Item> {
  /** the `Link` header, or null */
  link: string | null
}

interface Listing<Item> {
  items: Item[]
  total: number | null
  truncated: boolean
  skipped: number
}

interface Source<Item> {
  /** the interface's address: no `Link` beyond its path is followed */
  base: URL
  first: URL
  load: (url: URL) => Promise<LoadedPage<Item>>
  /** the interface has `page`: a page is asked for even when nothing says that there is one */
  isPaged: boolean
}

/**
 * Reads a listing to its end: by `Link: rel=next` below the base, else by `page`. It ends at no next link, at the total, at
 * a page that is short, empty or repeats what was seen. Each item comes once, also when the list shifts meanwhile.
 * What CI says to have beyond that makes it `truncated`.
 */
export async function followPages<Item>(source: Source<Item>): Promise<Listing<Item>> {
  const listing = new Map<string, Item | null>()
  const progress: Progress = { pages: 0, seen: 0, total: null, isLinked: false, isStuck: false, pageItemsMax: 0 }
  let next: Next | null = { url: source.first, isPromised: true }
  while (next !== null && progress.pages < PAGES_MAX) {
    const page: LoadedPage<Item> | null = await loadPage(source, next)
    for (const { identity, item } of page?.entries ?? []) listing.set(identity, item)
    next = page === null ? null : advance(progress, page, { listed: listing.size, at: next, source })
  }
  const isShort = progress.isStuck || (progress.total !== null && listing.size < progress.total)
  return { ...toListing(listing.values()), total: progress.total, truncated: next !== null || isShort }
}

/** The items of some entries, and how many were unreadable. */
export function toListing<Item>(entries: Iterable<Item | null>): { items: Item[]; skipped: number } {
  const all = [...entries]
  const items = all.filter((item) => item !== null)
  return { items, skipped: all.length - items.length }
}

interface Progress {
  pages: number
  /** different items so far */
  seen: number
  total: number | null
  /** CI pages by `Link`: its absence ends the list */
  isLinked: boolean
  /** CI promised another page and repeated what was seen */
  isStuck: boolean
  /** the largest page so far: a smaller one is the last */
  pageItemsMax: number
}

interface Next {
  url: URL
  /** CI said that this page is there; else it is only asked for */
  isPromised: boolean
}

async function loadPage<Item>({ load }: Source<Item>, { url, isPromised }: Next): Promise<LoadedPage<Item> | null> {
  try {
    return await load(url)
  } catch (error) {
    // Some services answer 404 beyond the last page.
    if (!isPromised && error instanceof CiError && error.kind === 'not-found') return null
    throw error
  }
}

interface Place<Item> {
  listed: number
  at: Next
  source: Source<Item>
}

function advance<Item>(progress: Progress, page: LoadedPage<Item>, { listed, at, source }: Place<Item>): Next | null {
  const isRepeated = listed === progress.seen
  const isShort = page.entries.length < (page.perPage ?? progress.pageItemsMax)
  progress.pages += 1
  progress.seen = listed
  progress.total = page.total ?? progress.total
  progress.isLinked ||= page.link !== null
  progress.pageItemsMax = Math.max(progress.pageItemsMax, page.entries.length)
  progress.isStuck = isRepeated && at.isPromised && page.entries.length > 0
  if (isRepeated) return null
  return linkedNext(progress, page, { at, source }) ?? numberedNext(progress, source, isShort)
}

function linkedNext<Item>(
  progress: Progress,
  { link }: LoadedPage<Item>,
  { at, source }: Omit<Place<Item>, 'listed'>,
): Next | null {
  const next = findNextLink(link, at.url)
  if (next === null) return null
  // Our credentials go nowhere else; the next number says the same.
  return isBelow(source.base, next) ? { url: next, isPromised: true } : numbered(progress, source, true)
}

const isBelow = (base: URL, url: URL): boolean =>
  url.origin === base.origin && url.pathname.startsWith(`${base.pathname.replace(/\/+$/, '')}/`)

function numberedNext<Item>(progress: Progress, source: Source<Item>, isShort: boolean): Next | null {
  if (progress.total !== null) return progress.seen < progress.total ? numbered(progress, source, true) : null
  if (progress.isLinked || isShort || !source.isPaged) return null
  // Not even a page smaller than we asked for proves the end: CI may allow no larger one.
  return numbered(progress, source, false)
}

function numbered<Item>({ pages }: Progress, { first }: Source<Item>, isPromised: boolean): Next {
  const url = new URL(first)
  url.searchParams.set('page', String(pages + 1))
  return { url, isPromised }
}

/** The `rel=next` address of a `Link` header (RFC 8288), resolved against the page's own, or null. */
function findNextLink(header: string | null, pageUrl: URL): URL | null {
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(LINK)) {
    if (isNext(parameters)) return URL.parse(target, pageUrl)
  }
  return null
}

const LINK = /<([^<>]*)>((?:"[^"]*"|[^",<])*)/g

function isNext(parameters: string): boolean {
  const [, quoted, token] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters) ?? []
  return (quoted ?? token ?? '').toLowerCase().split(/\s+/).includes('next')
}
