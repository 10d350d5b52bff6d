import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'

/** The longest SVG that is drawn, in bytes of UTF-8. */
export const SVG_BYTES_MAX = 256 * 1024
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
 * is not an SVG, or cannot be drawn within `msMax` milliseconds and the limit of memory. One picture is drawn at a time.
 * Never rejects.
 */
export const svgToPng = async (svg: string | Uint8Array, msMax = PICTURE_MS_MAX): Promise<Uint8Array | null> =>
  Buffer.byteLength(svg) > SVG_BYTES_MAX ? null : inTurn(() => draw(svg, msMax))

/** Draws a chart as a PNG, from its data. */
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

// Found by package.json: from dist/ as well as from src/.
const PROGRAM = createRequire(import.meta.url).resolve('#picture-process')
const PNG_BYTES_MAX = 4 * PICTURE_WIDTH_PX_MAX * PICTURE_HEIGHT_PX_MAX

/**
 * Draws in its own process: anybody may have written the SVG, an unusual number in it makes the rasteriser abort, and
 * nothing can interrupt it. `--wasm-max-mem-pages` bounds the rasteriser's memory, which layers and filters could
 * otherwise grow to gigabytes. WebAssembly can use only what it imports; this module imports neither files nor network.
 * The environment is empty, so the process has no secrets.
 */
async function draw(
  given: string | Uint8Array,
  msMax: number,
  what: readonly string[] = [],
): Promise<Uint8Array | null> {
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
