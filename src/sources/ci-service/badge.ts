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
 * With or without a namespace prefix; a quoted attribute may contain a `>`. No part of it goes past the next `<`, so
 * that the time for a badge grows only with its length.
 */
const SHOWN_TEXT = /<(?:[\w.-]+:)?(?:title|text|tspan)(?:\s(?:"[^"<]*"|'[^'<]*'|[^"'<>])*)?>([^<]*)/g

/**
 * The text of an SVG badge, in one line: the content of its `<title>`, `<text>` and `<tspan>` elements, without
 * repetitions (`build: passing`); null if it has none. The markup is not parsed: no entity is expanded.
 */
export function badgeWords(svg: string): string | null {
  const texts: string[] = []
  for (const [, shown = ''] of [...svg.matchAll(SHOWN_TEXT)].slice(0, BADGE_TEXTS_MAX)) {
    const text = toLine(shown)
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
