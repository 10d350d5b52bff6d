import { setImmediate } from 'node:timers/promises'
import * as z from 'zod'
import type { ProjectList } from '../../domain/ci-project/project.ts'
import { countOrNull } from '../values.ts'
import { isBelow } from '../http/address.ts'
import { CiError } from '../http/errors.ts'
import { readAnswer, type CiResponse } from '../http/exchange.ts'

/** The most pages that are read for one list. Beyond it the list is `truncated`. */
export const PAGES_MAX = 200

interface PagedList<Item> {
  /** the interface's address: a `Link` that leads outside it is not followed */
  base: URL
  first: URL
  /** the interface has `page`: the next page is requested even if nothing says that there is one */
  isPaged: boolean
  /** what it is for, as messages say it */
  purpose: string
  load: (url: URL) => Promise<CiResponse>
  /** null for an item that cannot be read */
  read: (value: unknown) => Item | null
  idOf: (item: Item) => string
}

interface Next {
  url: URL
  /** CI said that this page exists; otherwise it is a guess */
  isPromised: boolean
}

/**
 * Reads a list of projects to its end: by `Link: rel=next` below the base, else by `page`. It ends when there is no next
 * link, at the total, or at a page that is short, empty or a repetition. Each project comes once, even if the list shifts
 * meanwhile. `truncated`: CI says that it has more.
 */
export async function followPages<Item>(list: PagedList<Item>): Promise<ProjectList<Item>> {
  const listed = new Map<string, Item | null>()
  let total: number | null = null
  // CI sends `Link` headers, so a page without one is the last.
  let isLinked = false
  // CI announced another page, but it repeated known items.
  let isStuck = false
  let next: Next | null = { url: list.first, isPromised: true }
  for (let number = 1, itemsMax = 0; next !== null && number <= PAGES_MAX; number += 1) {
    const at: Next = next
    next = null
    const page = await loadPage(list, at)
    if (!page) break
    const known = listed.size
    for (const { id, item } of page.entries) listed.set(id, item)
    const isRepeated = listed.size === known
    isStuck = isRepeated && at.isPromised && page.entries.length > 0
    total = page.total ?? total
    isLinked ||= page.link !== null
    // Smaller than the largest page so far, so it is the last.
    const isShort = page.entries.length < (page.perPage ?? itemsMax)
    itemsMax = Math.max(itemsMax, page.entries.length)
    if (isRepeated) break
    const linked = findNextLink(page.link, at.url)
    if (linked && isBelow(linked, list.base)) next = { url: linked, isPromised: true }
    // Our credentials must not go elsewhere. The next page number leads to the same page.
    else if (linked) next = pageAt(list, number + 1, true)
    else if (total !== null) next = listed.size < total ? pageAt(list, number + 1, true) : null
    // Even a page smaller than requested does not prove the end: CI may allow no larger one.
    else if (list.isPaged && !isLinked && !isShort) next = pageAt(list, number + 1, false)
  }
  const projects = [...listed.values()].filter((item) => item !== null)
  const truncated = next !== null || isStuck || (total !== null && listed.size < total)
  return { projects, truncated, skipped: listed.size - projects.length }
}

function pageAt({ first }: { first: URL }, number: number, isPromised: boolean): Next {
  const url = new URL(first)
  url.searchParams.set('page', String(number))
  return { url, isPromised }
}

interface Page<Item> {
  /** `item` is null if it could not be read; `id` is unique even then */
  entries: { id: string; item: Item | null }[]
  total: number | null
  perPage: number | null
  /** the `Link` header */
  link: string | null
}

async function loadPage<Item>(list: PagedList<Item>, { url, isPromised }: Next): Promise<Page<Item> | null> {
  try {
    const response = await list.load(url)
    const { projects, total, per_page: perPage } = readAnswer(response, list.purpose, envelopeIn)
    return { entries: await readEntries(projects, list), total, perPage, link: response.link }
  } catch (error) {
    // Some services answer 404 beyond the last page.
    if (!isPromised && error instanceof CiError && error.kind === 'not-found') return null
    throw error
  }
}

/** A bare array, or `{projects: […], total, page, per_page}`; null for anything else. */
const envelopeIn = (json: unknown): z.infer<typeof envelopeSchema> | null =>
  envelopeSchema.safeParse(Array.isArray(json) ? { projects: json } : json).data ?? null

const envelopeSchema = z.object({ projects: z.array(z.unknown()), total: countOrNull, per_page: countOrNull })

/** A list may have thousands of projects, each with its builds: after this time, other work has its turn. */
const TURN_MS = 10

async function readEntries<Item>(values: readonly unknown[], { read, idOf }: PagedList<Item>) {
  const entries: Page<Item>['entries'] = []
  let endsAt = performance.now() + TURN_MS
  for (const [at, value] of values.entries()) {
    const item = read(value)
    entries.push({ id: item === null ? JSON.stringify([at, value]) : idOf(item), item })
    if (performance.now() < endsAt) continue
    await setImmediate()
    endsAt = performance.now() + TURN_MS
  }
  return entries
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
