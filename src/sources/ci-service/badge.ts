import type { Uuid } from '../../domain/ids.ts'
import { RAW_STATUSES } from '../../domain/builds/status.ts'
import { addressOf, parseHttpUrl } from '../http/address.ts'
import { cut } from '../../slack/messages/limits.ts'
import { CiError } from '../http/errors.ts'
import type { CiResponse } from '../http/exchange.ts'
import type { Transport } from '../http/transport.ts'
import { toLine } from '../../lib/escape.ts'

/** The largest picture that is read. */
export const BADGE_BYTES_MAX = 256 * 1024

interface Badge {
  /** `image/svg+xml`: without parameters, in lower case */
  contentType: string
  bytes: Uint8Array
  /** its text: from the SVG's texts, else from the file name or an element's id; null if it says nothing */
  words: string | null
}

export type BadgeClient = ReturnType<typeof createBadgeClient>

/** The site's badges, which are public. `siteUrl` may have a path prefix, with or without a slash at the end. */
export function createBadgeClient({ siteUrl, transport }: { siteUrl: string; transport: Transport }) {
  const base = parseHttpUrl(siteUrl)
  // The badge's address is shown to people.
  base.username = ''
  base.password = ''
  const address = (projectUuid: Uuid, branch: string | null): URL =>
    addressOf(base, ['projects', projectUuid, 'status'], { branch: branch ?? undefined })
  return {
    /** The badge's address without credentials. Without a branch, CI chooses one. */
    urlOf: (projectUuid: Uuid, branch: string | null): string => address(projectUuid, branch).href,

    /** The picture as CI draws it now: an image of at most `BADGE_BYTES_MAX`. Throws a CiError. */
    async fetchBadge(projectUuid: Uuid, branch: string | null, signal?: AbortSignal): Promise<Badge> {
      const url = address(projectUuid, branch)
      const [headers, responseBytesMax] = [{ accept: 'image/*' }, BADGE_BYTES_MAX]
      const request = { method: 'GET', url, headers, purpose: PURPOSE, secrets: [], responseBytesMax } as const
      return readBadge(await transport.send(request, signal))
    },
  }
}

const PURPOSE = 'fetch a badge'

function readBadge({ status, contentType, contentDisposition, bytes }: CiResponse): Badge {
  const type = (contentType ?? '').toLowerCase().split(';', 1)[0]!.trim()
  if (!IMAGE.test(type)) throw new CiError({ kind: 'shape', purpose: PURPOSE, status })
  const svg = type === SVG_TYPE ? Buffer.from(bytes).toString('utf8') : ''
  const words = badgeWords(svg) ?? stateIn(contentDisposition ?? '', FILE_NAME) ?? stateIn(svg, ELEMENT_ID)
  return { contentType: type, bytes, words }
}

const IMAGE = /^image\/[\w.+-]+$/
export const SVG_TYPE = 'image/svg+xml'

/** The one status in names of this form; null if there is none, or several. */
function stateIn(text: string, form: RegExp): string | null {
  const names = [...text.matchAll(form)].map(([, name = '']) => name.toLowerCase())
  const [state, ...others] = new Set(names.flatMap((name) => STATES.get(name) ?? []))
  return others.length > 0 ? null : (state ?? null)
}

/** `filename="status_success.png"`, `<g id="status_success">`, `<g id="success">` */
const FILE_NAME = /\bstatus_([a-z_]{1,40})\.(?:svg|png|gif)\b/gi
const ELEMENT_ID = /\sid=["'](?:status_)?([a-z_]{1,40})["']/gi

const STATES = new Map([
  ...RAW_STATUSES.map((word) => [word, word] as const),
  ['projectnotfound', 'project not found'],
  ['branchnotfound', 'branch not found'],
])

/** The longest text that is passed on, in code points. */
export const BADGE_WORDS_CHARS_MAX = 100
/** How many texts of one badge are read; a badge has about four. */
export const BADGE_TEXTS_MAX = 20

/**
 * The text of an SVG badge, in one line: the content of its `<title>` and `<text>` elements, without repetitions
 * (`build: passing`); null if it has none. The markup is scanned once and never interpreted: no entity is expanded.
 */
export function badgeWords(svg: string): string | null {
  const texts: string[] = []
  for (const text of shownTexts(svg).map(toLine)) {
    if (text === '' || texts.some((other) => says(other, text))) continue
    // A title may come last and repeat the texts before it.
    texts.splice(0, texts.length, ...texts.filter((other) => !says(text, other)), text)
  }
  return texts.length === 0 ? null : cut(texts.join(' '), BADGE_WORDS_CHARS_MAX)
}

const says = (text: string, part: string): boolean => {
  const words = wordsOf(part)
  return text === part || (words !== '' && ` ${wordsOf(text)} `.includes(` ${words} `))
}

const wordsOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()

function shownTexts(svg: string): string[] {
  const texts: string[] = []
  let open: { name: string; text: string } | null = null
  for (const [text, tag] of pieces(svg)) {
    if (open !== null) open.text += `${text}${characterData(tag)}`
    const [, end, name] = SHOWN_TAG.exec(tag) ?? []
    if (open === null && end === '' && name !== undefined && !tag.endsWith('/>')) open = { name, text: '' }
    if (open === null || end !== '/' || name !== open.name) continue
    if (texts.push(open.text) === BADGE_TEXTS_MAX) break
    open = null
  }
  return texts
}

// With or without a namespace prefix.
const SHOWN_TAG = /^<(\/?)(?:[\w.-]+:)?(title|text)[\s/>]/

/** Yields each piece of markup, with the text before it. */
function* pieces(svg: string): Generator<[text: string, tag: string]> {
  for (let at = 0; at < svg.length;) {
    const found = svg.indexOf('<', at)
    const tagAt = found < 0 ? svg.length : found
    const next = markupEnd(svg, tagAt)
    yield [svg.slice(at, tagAt), svg.slice(tagAt, next)]
    at = next
  }
}

const CDATA = '<![CDATA['
const SECTIONS = [
  ['<!--', '-->'],
  [CDATA, ']]>'],
  ['<?', '?>'],
] as const

/** Where the markup that begins at `at` ends. Markup that is never closed ends with the document. */
function markupEnd(svg: string, at: number): number {
  const section = SECTIONS.find(([opening]) => svg.startsWith(opening, at))
  if (section === undefined) return tagEnd(svg, at)
  const [opening, closing] = section
  const end = svg.indexOf(closing, at + opening.length)
  return end < 0 ? svg.length : end + closing.length
}

// A quoted attribute may contain a `>`.
function tagEnd(svg: string, at: number): number {
  let quote: string | null = null
  for (let next = at; next < svg.length; next++) {
    const character = svg.charAt(next)
    if (quote !== null) quote = character === quote ? null : quote
    else if (character === '>') return next + 1
    else if (character === '"' || character === "'") quote = character
  }
  return svg.length
}

// Other markup separates words, as `<tspan>` does on the screen.
const characterData = (tag: string): string => (tag.startsWith(CDATA) ? tag.slice(CDATA.length, -']]>'.length) : ' ')
