import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { SaxesParser } from 'saxes'
import { utf8Of } from '../../lib/escape.ts'

/** The longest SVG that is drawn, in bytes of UTF-8. */
export const SVG_BYTES_MAX = 256 * 1024
/** The most elements, and the deepest nesting. A badge has about twenty elements, and a depth of three. */
export const SVG_ELEMENTS_MAX = 150
export const SVG_DEPTH_MAX = 8
/** The most elements that need a layer of their own. Each layer takes as much memory as the whole picture. */
export const SVG_LAYERS_MAX = 8
/** How much larger than its own size a badge is drawn, for high-density screens. */
export const PICTURE_SCALE = 3
/** Larger pictures are scaled down to this, in proportion. */
export const PICTURE_WIDTH_PX_MAX = 1_200
export const PICTURE_HEIGHT_PX_MAX = 400
/** The time limit for drawing, in milliseconds, with the start of its process. */
const PICTURE_MS_MAX = 3_000
/** How many pictures may wait while one is drawn. A further one is not drawn. */
export const PICTURES_WAITING_MAX = 4
/** The memory limit of the rasteriser, in WebAssembly pages of 64 KiB. */
export const PICTURE_PAGES_MAX = 1_024

/**
 * Draws an SVG, such as a badge, as a PNG. All text is in the bundled font, so it looks the same everywhere. Null if it
 * is not an SVG, has anything that badges do not need, or cannot be drawn within `msMax` milliseconds. One picture is
 * drawn at a time. Fetches nothing, never rejects.
 */
export async function svgToPng(svg: string | Uint8Array, msMax = PICTURE_MS_MAX): Promise<Uint8Array | null> {
  const text = readText(svg)
  return text === null || !isPlainSvg(text) ? null : inTurn(() => draw(text, msMax))
}

/** Draws a chart as a PNG, from its data. Unlike an SVG from outside, the data needs no check. */
export const chartToPng = (shown: object): Promise<Uint8Array | null> =>
  inTurn(() => draw(JSON.stringify(shown), CHART_MS_MAX, [CHART]))

/** The argument that asks the process for a chart. */
export const CHART = 'chart'
/** Pixels for each unit of a chart's SVG. */
export const CHART_SCALE = 2
/** The time limit for drawing a chart, in milliseconds, with the loading of its library. */
const CHART_MS_MAX = 15_000

async function inTurn(work: () => Promise<Uint8Array | null>): Promise<Uint8Array | null> {
  if (waiting > PICTURES_WAITING_MAX) return null
  waiting += 1
  // A process may fail to start for lack of memory. The next picture must not fail with it.
  const drawing = last.then(work).catch(() => null)
  last = drawing
  const png = await drawing
  waiting -= 1
  return png
}

let waiting = 0
let last: Promise<unknown> = Promise.resolve()

/** Null for another encoding or a compressed file, which the checks below cannot read. */
function readText(svg: string | Uint8Array): string | null {
  const bytes = typeof svg === 'string' ? Buffer.from(svg) : svg
  return bytes.length > SVG_BYTES_MAX ? null : (utf8Of(bytes)?.replace(/^\ufeff/, '') ?? null)
}

/**
 * Whether it has only what a badge needs. Anything not on the lists below could load something from outside, or take
 * memory without limit. The XML parser is strict: it rejects text that the rasteriser could read in another way.
 */
function isPlainSvg(text: string): boolean {
  const parser = new SaxesParser()
  const refuse = () => parser.fail('not a plain SVG')
  let [elements, depth, layers] = [0, 0, 0]
  let isPlain = true
  parser.on('error', () => (isPlain = false))
  parser.on('doctype', refuse)
  parser.on('processinginstruction', refuse)
  parser.on('opentag', ({ name, attributes }) => {
    elements += 1
    depth += 1
    if (depth === 1 ? name !== 'svg' : !ELEMENTS.has(name)) refuse()
    if (LAYERED.some((attribute) => attribute in attributes) || name === 'mask' || name === 'clipPath') layers += 1
    if (elements > SVG_ELEMENTS_MAX || depth > SVG_DEPTH_MAX || layers > SVG_LAYERS_MAX) refuse()
    for (const [attribute, value] of Object.entries(attributes)) if (!isPlainAttribute(attribute, value)) refuse()
  })
  parser.on('closetag', () => (depth -= 1))
  parser.write(text).close()
  return isPlain
}

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

const ELEMENTS = words(`
  svg g defs title desc rect circle ellipse line polyline polygon path text tspan linearGradient radialGradient stop
  clipPath mask`)

const LAYERED = ['opacity', 'mask', 'clip-path']

const ATTRIBUTES = words(`
  xmlns xmlns:xlink xml:space xml:lang version id class role aria-label aria-hidden viewBox preserveAspectRatio width height
  x y x1 y1 x2 y2 cx cy r rx ry d points dx dy transform opacity mask clip-path clip-rule maskUnits clipPathUnits
  fill fill-opacity fill-rule stroke stroke-opacity stroke-width stroke-linecap stroke-linejoin offset stop-color stop-opacity
  gradientUnits gradientTransform font-family font-size font-weight font-style text-anchor textLength lengthAdjust
  letter-spacing text-rendering shape-rendering dominant-baseline`)

// `url(…)` could load something from outside; `url(#id)` is a part of the picture. SVG_LAYERS_MAX limits nested masks.
const isPlainAttribute = (name: string, value: string): boolean =>
  ATTRIBUTES.has(name) && !/\burl\s*\((?!\s*["']?#)|[\\@]/i.test(value)

// Found by package.json: from dist/ as well as from src/.
const PROGRAM = createRequire(import.meta.url).resolve('#picture-process')
const PNG_BYTES_MAX = 4 * PICTURE_WIDTH_PX_MAX * PICTURE_HEIGHT_PX_MAX

/**
 * Draws in its own process: an unusual number in an SVG makes the rasteriser abort, and nothing can interrupt it. The
 * flag limits its WebAssembly memory on every system. The environment is empty, so the process has no secrets.
 */
async function draw(given: string, msMax: number, what: readonly string[] = []): Promise<Uint8Array | null> {
  const { promise, resolve } = Promise.withResolvers<Uint8Array | null>()
  const options = {
    encoding: 'buffer',
    env: {},
    timeout: msMax,
    killSignal: 'SIGKILL',
    maxBuffer: PNG_BYTES_MAX,
  } as const
  const child = execFile(
    process.execPath,
    [`--wasm-max-mem-pages=${PICTURE_PAGES_MAX}`, PROGRAM, ...what],
    options,
    (error, png) => resolve(error === null && startsWith(png, PNG) ? png : null),
  )
  // If the process has died, the write fails, and there is no picture.
  child.stdin?.on('error', () => resolve(null)).end(given)
  return promise
}

/**
 * Whether Slack can show this picture: PNG, GIF or JPEG, by its first bytes. A content type of something else, such as
 * `text/html`, rules it out; a missing one and `application/octet-stream` say nothing.
 */
export const isPicture = (contentType: string | null, bytes: Uint8Array): boolean =>
  PICTURE_TYPE.test(contentType?.trim() ?? '') && [PNG, GIF_87, GIF_89, JPEG].some((magic) => startsWith(bytes, magic))

const PICTURE_TYPE = /^(?:$|image\/|application\/octet-stream\b)/i
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const GIF_87 = [...Buffer.from('GIF87a')]
const GIF_89 = [...Buffer.from('GIF89a')]
const JPEG = [0xff, 0xd8, 0xff]

const startsWith = (bytes: Uint8Array, magic: readonly number[]): boolean =>
  magic.every((byte, at) => bytes[at] === byte)
