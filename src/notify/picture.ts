import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The longest SVG that is drawn, in bytes of UTF-8. */
export const SVG_BYTES_MAX = 256 * 1024
/** The most tags, opening and closing ones: a badge has about twenty. Nested groups take a picture's memory each. */
export const SVG_TAGS_MAX = 300
/** The most references from one place of an SVG to another: parts that use each other multiply. */
export const SVG_REFERENCES_MAX = 16
/** How much larger than itself a badge is drawn, for screens with small pixels. */
export const PICTURE_SCALE = 3
/** What is larger is drawn smaller; the proportions stay. */
export const PICTURE_WIDTH_PX_MAX = 1_200
export const PICTURE_HEIGHT_PX_MAX = 400
/** The longest drawing, in milliseconds, the start of its process included. */
export const PICTURE_MS_MAX = 3_000
/** The most drawn at once; one more is not drawn. */
export const PICTURES_AT_ONCE_MAX = 4

export interface Picture {
  png: Uint8Array
  /** in pixels */
  width: number
  height: number
}

/**
 * An SVG, such as a badge, as a PNG. Text is drawn in the bundled font, whatever font it asks for: the same everywhere.
 * `null` for what is no SVG, reaches outside itself, is more than a badge could be, or cannot be drawn within `msMax`
 * milliseconds. Fetches nothing, never rejects.
 */
export async function svgToPng(svg: string | Uint8Array, msMax = PICTURE_MS_MAX): Promise<Picture | null> {
  const text = readText(svg)
  if (text === null || isHarmful(text) || drawing >= PICTURES_AT_ONCE_MAX) return null
  drawing += 1
  const png = await draw(text, msMax).finally(() => (drawing -= 1))
  return png && { png, ...sizeOf(png) }
}

let drawing = 0

function readText(svg: string | Uint8Array): string | null {
  const bytes = typeof svg === 'string' ? Buffer.from(svg) : svg
  if (bytes.length > SVG_BYTES_MAX) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // Another encoding, or compressed: what these checks cannot read is not drawn.
    return null
  }
}

const isHarmful = (text: string): boolean =>
  REFUSED.test(text) || countOf(text, TAG) > SVG_TAGS_MAX || countOf(text, REFERENCE) > SVG_REFERENCES_MAX

// Entities multiply; pictures, scripts and addresses reach outside; filters, patterns and markers take room without bound.
const REFUSED =
  /<!DOCTYPE|<!ENTITY|<(?:[\w.-]+:)?(?:image|script|foreignObject|filter|pattern|marker)\b|\bhref\s*=(?!\s*["']#)|\burl\((?!\s*(?:["']|&quot;|&apos;)?#)|@import/i

const TAG = /</g
const REFERENCE = /\bhref\s*=|\burl\(/gi

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

const PROGRAM = fileURLToPath(new URL('picture-process.ts', import.meta.url))
const PNG_BYTES_MAX = 4 * PICTURE_WIDTH_PX_MAX * PICTURE_HEIGHT_PX_MAX

/**
 * In a process of its own: the rasteriser is native code, an odd number in an SVG makes it abort, and nothing can stop
 * it halfway. It has none of our environment, so none of our secrets.
 */
async function draw(svg: string, msMax: number): Promise<Uint8Array | null> {
  const { promise, resolve } = Promise.withResolvers<Uint8Array | null>()
  const options = {
    encoding: 'buffer',
    env: {},
    timeout: msMax,
    killSignal: 'SIGKILL',
    maxBuffer: PNG_BYTES_MAX,
  } as const
  const child = execFile(process.execPath, [PROGRAM], options, (error, png) =>
    resolve(error === null && startsWith(png, PNG) ? png : null),
  )
  // A process that died does not read on: its end is the answer.
  child.stdin?.on('error', () => resolve(null)).end(svg)
  return promise
}

/** A PNG says its size right after its first words. */
function sizeOf(png: Uint8Array): { width: number; height: number } {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength)
  return { width: view.getUint32(16), height: view.getUint32(20) }
}

/**
 * Is this a picture that Slack shows: PNG, GIF or JPEG? The first bytes decide. A content type that names something
 * other than a picture, such as `text/html`, is believed; a missing one or `application/octet-stream` says nothing.
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
