import { CiError } from '../http/errors.ts'
import type { ListPage } from './wire.ts'

/** The most pages that are read for one listing. Beyond it the listing is `truncated`. */
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
  /** the interface's address: a `Link` that leads outside it is not followed */
  base: URL
  first: URL
  load: (url: URL) => Promise<LoadedPage<Item>>
  /** the interface has `page`: the next page is requested even if nothing says that there is one */
  isPaged: boolean
}

/**
 * Reads a listing to its end: by `Link: rel=next` below the base, else by `page`. It ends when there is no next link,
 * at the total, or at a page that is short, empty or a repetition. Each item comes once, even if the list shifts
 * meanwhile. `truncated`: CI says that it has more.
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
  /** CI sends `Link` headers, so a page without one is the last */
  isLinked: boolean
  /** CI announced another page, but it repeated known items */
  isStuck: boolean
  /** items on the largest page so far: a smaller page is the last */
  pageItemsMax: number
}

interface Next {
  url: URL
  /** CI said that this page exists; otherwise it is a guess */
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
  // Our credentials must not go elsewhere. The next page number leads to the same page.
  return isBelow(source.base, next) ? { url: next, isPromised: true } : numbered(progress, source, true)
}

const isBelow = (base: URL, url: URL): boolean =>
  url.origin === base.origin && url.pathname.startsWith(`${base.pathname.replace(/\/+$/, '')}/`)

function numberedNext<Item>(progress: Progress, source: Source<Item>, isShort: boolean): Next | null {
  if (progress.total !== null) return progress.seen < progress.total ? numbered(progress, source, true) : null
  if (progress.isLinked || isShort || !source.isPaged) return null
  // Even a page smaller than requested does not prove the end: CI may allow no larger one.
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
