import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  isPicture,
  PICTURE_HEIGHT_PX_MAX,
  PICTURE_PAGES_MAX,
  PICTURE_SCALE,
  PICTURE_WIDTH_PX_MAX,
  PICTURES_WAITING_MAX,
  SVG_BYTES_MAX,
  SVG_DEPTH_MAX,
  SVG_ELEMENTS_MAX,
  SVG_LAYERS_MAX,
  svgToPng,
  type Picture,
} from '../../src/slack/picture/picture.ts'
import { createSandboxCi } from '../../packages/sandbox-ci/src/server.ts'
import { readPng, type Pixels } from './png.ts'

// The machine that runs this may be busy: what is slow here is its processes' start.
const PATIENCE_MS = 20_000

const svg = (content: string, attributes = 'width="100" height="20"'): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${content}</svg>`
const RED = '<rect width="100%" height="100%" fill="#f00"/>'
const text = (words: string, font = 'Verdana,DejaVu Sans,sans-serif'): string =>
  `<text x="4" y="14" font-size="11" fill="#fff" font-family="${font}">${words}</text>`

async function drawn(source: string | Uint8Array): Promise<Picture> {
  const picture = await svgToPng(source, PATIENCE_MS)
  if (!picture) throw new Error('not drawn')
  return picture
}

const pixels = async (source: string): Promise<Pixels> => readPng((await drawn(source)).png)

/** The share of pixels that two pictures do not have in common, between two columns of the original. */
function difference(one: Pixels, other: Pixels, fromX: number, toX: number): number {
  let differing = 0
  for (let y = 0; y < one.height; y += 1)
    for (let x = fromX * PICTURE_SCALE; x < toX * PICTURE_SCALE; x += 1) {
      const at = (y * one.width + x) * 4
      if ([0, 1, 2, 3].some((channel) => one.rgba[at + channel] !== other.rgba[at + channel])) differing += 1
    }
  return differing / (one.height * (toX - fromX) * PICTURE_SCALE)
}

describe('a badge as a picture', () => {
  async function sandboxBadge(): Promise<string> {
    const ci = createSandboxCi({ webhookUrl: 'http://127.0.0.1:9/nobody' })
    await ci.start()
    onTestFinished(() => ci.stop())
    const uuid = ci.state().projects.find(({ name }) => name === 'acme/web')?.uuid
    const answer = await fetch(`${ci.address().siteUrl}/projects/${uuid}/status?branch=main`)
    return answer.text()
  }

  it('of the CI service is drawn three times as large, with its words', async () => {
    const badge = await sandboxBadge()
    const [width, height] = [/width="(\d+)"/, /height="(\d+)"/].map((pattern) => Number(pattern.exec(badge)?.[1]))
    const picture = await drawn(badge)
    expect([picture.width, picture.height]).toEqual([width! * PICTURE_SCALE, height! * PICTURE_SCALE])
    const [all, without] = [readPng(picture.png), await pixels(badge.replace(/<text[\s\S]*<\/text>/, ''))]
    expect([all.width, all.height]).toEqual([picture.width, picture.height])
    expect(difference(all, without, 0, 45)).toBeGreaterThan(0.05)
    expect(difference(all, without, 45, width!)).toBeGreaterThan(0.05)
  })

  it.each([
    ['Latin', 'build', 'guild'],
    ['Cyrillic', 'сборка', 'вторка'],
    ['Greek', 'έτοιμο', 'έτοιβο'],
  ])('has its %s letters drawn, each as itself', async (_, words, others) => {
    const [one, other, none] = await Promise.all([words, others, ''].map((each) => pixels(svg(RED + text(each)))))
    expect(difference(one!, none!, 4, 44)).toBeGreaterThan(0.05)
    expect(difference(one!, none!, 70, 100)).toBe(0)
    // A letter that the font lacks would be the same empty box as any other.
    expect(difference(one!, other!, 4, 44)).toBeGreaterThan(0.005)
  })

  it('is the same in whatever font it asks for, but bold is bold', async () => {
    const asked = ['DejaVu Sans', 'Nowhere', 'serif', 'monospace'].map((font) => drawn(svg(text('passing', font))))
    const [first, ...others] = await Promise.all(asked)
    for (const other of others) expect(Buffer.compare(other.png, first!.png)).toBe(0)
    const bold = await drawn(svg(text('passing').replace('<text', '<text font-weight="bold"')))
    expect(Buffer.compare(bold.png, first!.png)).not.toBe(0)
  })

  it('has the colours of its SVG', async () => {
    const { rgba } = await pixels(svg(RED))
    expect([...rgba.subarray(0, 4)]).toEqual([255, 0, 0, 255])
    expect(new Set(rgba)).toEqual(new Set([255, 0]))
  })

  it('is read from bytes as from text', async () => {
    const source = svg(RED + text('сборка'))
    const [one, other] = await Promise.all([drawn(source), drawn(new TextEncoder().encode(`\ufeff${source}`))])
    expect(Buffer.compare(one.png, other.png)).toBe(0)
  })

  it.each([
    ['100', '20', 300, 60],
    ['400', '20', PICTURE_WIDTH_PX_MAX, 60],
    ['401', '20', PICTURE_WIDTH_PX_MAX, 60],
    ['2400', '40', PICTURE_WIDTH_PX_MAX, 20],
    ['20', '400', 20, PICTURE_HEIGHT_PX_MAX],
    ['1000000000', '1000000000', PICTURE_HEIGHT_PX_MAX, PICTURE_HEIGHT_PX_MAX],
  ])('of %s to %s is drawn as %i to %i', async (width, height, widthPx, heightPx) => {
    const picture = await drawn(svg(RED, `width="${width}" height="${height}"`))
    expect([picture.width, picture.height]).toEqual([widthPx, heightPx])
  })
})

describe('no picture', () => {
  it.each([
    ['nothing', ''],
    ['blanks', ' \n'],
    ['words', 'passing'],
    ['a page', '<html><body>Not found</body></html>'],
    ['a page with an SVG in it', `<html>${svg(RED)}</html>`],
    ['half an SVG', svg(RED).slice(0, -10)],
    ['no width', svg(RED, 'width="0" height="20"')],
    ['a width below nothing', svg(RED, 'width="-100" height="20"')],
    ['a width beyond numbers', svg(RED, 'width="1e99" height="20"')],
    ['less than a pixel', svg(RED, 'width="4000" height="0.01"')],
  ])('is made of %s', async (_, source) => {
    expect(await svgToPng(source, PATIENCE_MS)).toBeNull()
  })

  it.each([
    ['compressed', gzipSync(svg(RED))],
    ['in another encoding', Buffer.from(`\ufeff${svg(RED)}`, 'utf16le')],
    ['a PNG already', Buffer.from('89504e470d0a1a0a', 'hex')],
  ])('is made of what is %s', async (_, bytes) => {
    expect(await svgToPng(bytes)).toBeNull()
  })

  it('is made of what takes longer than it may', async () => {
    // Shaping it takes the rasteriser more than ten seconds.
    const endless = svg(text('a'.repeat(SVG_BYTES_MAX - 1_000)))
    expect(await svgToPng(endless, 500)).toBeNull()
  })

  it('comes of what makes the rasteriser abort: only its own process ends', async () => {
    const wide = '<text font-size="1e35" stroke="red" stroke-width="1e38" opacity=".5">hello</text>'
    expect(await svgToPng(svg(wide), PATIENCE_MS)).toBeNull()
    expect(await svgToPng(svg(RED), PATIENCE_MS)).not.toBeNull()
  })
})

const nested = (tag: string, times: number): string => tag.repeat(times) + RED + '</g>'.repeat(times)
const PREFIXED =
  '<é:pattern xmlns:é="http://www.w3.org/2000/svg" id="p" width="1e5" height="1e5"/><rect width="9" height="9" fill="url(#p)"/>'

/** Draws as `svgToPng` does, but for the filter: how the process ends, and the most memory it had. */
async function drawDirectly(source: string): Promise<{ code: number | null; residentMB: number }> {
  const child = spawn(process.execPath, [`--wasm-max-mem-pages=${PICTURE_PAGES_MAX}`, PROGRAM], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.stdin.on('error', () => {}).end(source)
  let residentMB = 0
  const looking = setInterval(() => (residentMB = Math.max(residentMB, peakMB(child.pid!))), 2)
  const [code] = (await once(child, 'close')) as [number | null]
  clearInterval(looking)
  return { code, residentMB }
}

function peakMB(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024
  } catch {
    return 0
  }
}

const PROGRAM = fileURLToPath(new URL('../../src/slack/picture/picture-process.ts', import.meta.url))

describe('the process that draws', () => {
  it('gets no more memory than it may have, whatever the filter let through', async () => {
    // Past the filter: the same program, with the same flag, and a picture whose layers would take two gigabytes.
    const hungry = svg(nested('<g opacity=".9">', 1_000), 'width="1200" height="400"')
    const { code, residentMB } = await drawDirectly(hungry)
    expect(code).not.toBe(0)
    expect(residentMB).toBeLessThan(250)
  })
})

describe('refused before anything is drawn', () => {
  const hostile: [what: string, source: string][] = [
    ['a doctype', `<!DOCTYPE svg>${svg(RED)}`],
    ['entities', `<!doctype svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>${svg('<text>&b;</text>')}`],
    ['a picture from elsewhere', svg('<image href="http://ci.example/x.png" width="9" height="9"/>')],
    ['a picture from the disk', svg('<image xlink:href="/etc/hostname" width="9" height="9"/>')],
    ['a picture within', svg('<image href="data:image/png;base64,AAAA" width="9" height="9"/>')],
    ['a picture by another name', svg('<s:image xmlns:s="http://www.w3.org/2000/svg" href="#a"/>')],
    ['a part of another file', svg('<use href="http://ci.example/x.svg#a"/>')],
    ['a colour of another file', svg('<rect width="9" height="9" fill="url(http://ci.example/x.svg#a)"/>')],
    ['a style of another file', svg('<style>@import "http://ci.example/x.css";</style>')],
    ['a script', svg('<script>alert(1)</script>')],
    ['a page within', svg('<foreignObject width="9" height="9"/>')],
    ['a filter', svg('<filter id="f" x="-1e9" width="2e9"><feGaussianBlur stdDeviation="1e6"/></filter>')],
    ['a pattern', svg('<pattern id="p" width="1e9" height="1e9"/>')],
    ['a pattern behind a prefix that is not ASCII, which took gigabytes', svg(PREFIXED)],
    ['groups with opacity in each other, which took gigabytes', svg(nested('<g opacity=".9">', 60))],
    ['a part used twice', svg('<g id="a"/><use href="#a"/>')],
    ['an attribute that badges do not need', svg('<rect onclick="x"/>')],
    ['an address behind an escape', svg('<rect fill="u\\72l(http://ci.example/#a)"/>')],
    ['what is no XML', svg('<rect width="9" height="9">')],
  ]

  it.each(hostile)('%s', async (_, source) => {
    expect(await withoutProcess(source)).toBe('refused')
  })

  it('what is longer, has more elements, stands deeper or has more layers than a badge', async () => {
    const filled = (bytes: number) =>
      svg(RED).replace('</svg>', `<!--${'x'.repeat(bytes - svg(RED).length - 7)}--></svg>`)
    const elements = (count: number) => svg('<g/>'.repeat(count - 1))
    const deep = (depth: number) => svg(nested('<g>', depth - 2))
    const layered = (layers: number) => svg('<g opacity=".5"/>'.repeat(layers))
    for (const [make, limit] of [
      [filled, SVG_BYTES_MAX],
      [elements, SVG_ELEMENTS_MAX],
      [deep, SVG_DEPTH_MAX],
      [layered, SVG_LAYERS_MAX],
    ] as const) {
      expect(await svgToPng(make(limit), PATIENCE_MS)).not.toBeNull()
      expect(await withoutProcess(make(limit + 1))).toBe('refused')
    }
    expect(Buffer.byteLength(filled(SVG_BYTES_MAX))).toBe(SVG_BYTES_MAX)
  })

  it('one more than may wait, and not the next; one is drawn at a time', async () => {
    const ends: number[] = []
    const all = Array.from({ length: PICTURES_WAITING_MAX + 2 }, async () => {
      const picture = await svgToPng(svg(RED), PATIENCE_MS)
      if (picture) ends.push(performance.now())
      return picture !== null
    })
    expect(await Promise.all(all)).toEqual([...Array.from({ length: PICTURES_WAITING_MAX + 1 }, () => true), false])
    const gaps = ends.slice(1).map((end, at) => end - ends[at]!)
    expect(Math.min(...gaps)).toBeGreaterThan(10)
    expect(await svgToPng(svg(RED), PATIENCE_MS)).not.toBeNull()
  })

  it('the one after a process that could not be started', async () => {
    expect(await svgToPng(svg(RED), Number.NaN)).toBeNull()
    expect(await svgToPng(svg(RED), PATIENCE_MS)).not.toBeNull()
  })

  it('but not what only looks like it', async () => {
    const gradient = '<linearGradient id="image"><stop stop-color="red"/></linearGradient>'
    const fills = ['url(#image)', `url('#image')`, 'url(&quot;#image&quot;)']
    const rects = fills.map((fill) => `<rect width="100" height="20" fill="${fill}"/>`).join('')
    const picture = await svgToPng(svg(gradient + rects + text('href image &amp;lt;script')), PATIENCE_MS)
    expect(picture?.width).toBe(300)
  })

  /** Refused at once: before a macrotask runs, and so before any process could have started. */
  function withoutProcess(source: string): Promise<'refused' | 'drawn or tried'> {
    const tried = new Promise<'drawn or tried'>((resolve) => setImmediate(resolve, 'drawn or tried'))
    return Promise.race([svgToPng(source).then((picture) => (picture ? 'drawn or tried' : 'refused')), tried])
  }
})

describe('isPicture', () => {
  const bytes = (head: string, encoding: BufferEncoding = 'latin1') => Buffer.from(head, encoding)
  const PNG = bytes('89504e470d0a1a0a0000000d49484452', 'hex')

  it.each([
    ['a PNG', PNG],
    ['a GIF', bytes('GIF89a....')],
    ['an older GIF', bytes('GIF87a....')],
    ['a JPEG', bytes('ffd8ffe000104a46', 'hex')],
  ])('knows %s by its first bytes, whatever picture it is called', (_, picture) => {
    for (const type of ['image/png', 'IMAGE/GIF; a=b', 'application/octet-stream', '', null])
      expect(isPicture(type, picture)).toBe(true)
    for (const type of ['text/html', 'application/json', 'application/octet-streams', 'x-image/png'])
      expect(isPicture(type, picture)).toBe(false)
  })

  it.each([
    ['nothing', bytes('')],
    ['an SVG', bytes('<svg/>')],
    ['a page', bytes('<html>')],
    ['half of the first bytes', PNG.subarray(0, 7)],
    ['a PNG that begins late', Buffer.concat([bytes(' '), PNG])],
    ['a GIF of no known year', bytes('GIF88a....')],
    ['a WebP, which Slack may not show', bytes('RIFF....WEBP')],
  ])('takes %s for no picture', (_, other) => {
    expect(isPicture('image/png', other)).toBe(false)
  })
})
