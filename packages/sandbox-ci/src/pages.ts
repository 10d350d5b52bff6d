import { json } from '../../lib/http.ts'
import type { Call, Reply } from '../../lib/http.ts'
import type { ProjectFields } from './state.ts'
import type { Switches } from './switches.ts'

interface Page {
  page: number
  perPage: number
}

/** One page of projects in the form of the switch `listForm`. A page after the last is empty, not an error. */
export function projectsPage(all: readonly ProjectFields[], call: Call, switches: Switches, url: string): Reply {
  const { page, perPage } = readPage(call.query, switches)
  const projects = all.slice((page - 1) * perPage, page * perPage)
  if (switches.listForm === 'envelope') return json(200, { projects, total: all.length, page, per_page: perPage })
  if (switches.listForm === 'array') return json(200, projects)
  const link = linkHeader(new URL(call.path, url), call.query, { page, perPage }, all.length)
  return json(200, projects, link === '' ? {} : { link })
}

function readPage(query: URLSearchParams, switches: Switches): Page {
  const perPage = Math.min(positive(query.get('per_page')) ?? switches.perPageDefault, switches.perPageMax)
  return { page: positive(query.get('page')) ?? 1, perPage }
}

// A value that is not a positive whole number is ignored.
const positive = (text: string | null): number | undefined =>
  text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined

function linkHeader(url: URL, query: URLSearchParams, { page, perPage }: Page, total: number): string {
  const last = Math.max(1, Math.ceil(total / perPage))
  const link = (rel: string, target: number) => {
    const search = new URLSearchParams(query)
    search.set('page', String(target))
    search.set('per_page', String(perPage))
    return `<${url.origin}${url.pathname}?${search.toString()}>; rel="${rel}"`
  }
  const links = [link('first', 1), link('last', last)]
  if (page < last) links.push(link('next', page + 1))
  if (page > 1) links.push(link('prev', page - 1))
  return links.join(', ')
}
