import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  svgToPng,
} from '../../../src/slack/picture/picture.ts'
import { createSandboxCi } from '../../../packages/sandbox-ci/src/server.ts'
import { readPng, type Pixels } from './png.ts'

// The machine that runs this may be busy; the slow part here is starting the processes.
const PATIENCE_MS = 20_000

const svg = (content: string, attributes = 'width="100" height="20"'): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${content}</svg>`
const RED = '<rect width="100%" height="100%" fill="#f00"/>'
const LINE_PX = 20
const text = (words: string, font = 'Verdana,DejaVu Sans,sans-serif', line = 0): string =>
  `<text x="4" y="${14 + line * LINE_PX}" font-size="11" fill="#fff" font-family="${font}">${words}</text>`

async function drawn(source: string | Uint8Array): Promise<Uint8Array> {
  const picture = await svgToPng(source, PATIENCE_MS)
  if (!picture) throw new Error('not drawn')
  return picture
}

const pixels = async (source: string): Promise<Pixels> => readPng(await drawn(source))

/** The share of pixels that differ between two pictures, between two columns of the original, in one of its lines. */
function difference(one: Pixels, other: Pixels, fromX: number, toX: number, line = 0): number {
  let differing = 0
  const height = LINE_PX * PICTURE_SCALE
  for (let y = line * height; y < (line + 1) * height; y += 1)
    for (let x = fromX * PICTURE_SCALE; x < toX * PICTURE_SCALE; x += 1) {
      const at = (y * one.width + x) * 4
      if ([0, 1, 2, 3].some((channel) => one.rgba[at + channel] !== other.rgba[at + channel])) differing += 1
    }
  return differing / (height * (toX - fromX) * PICTURE_SCALE)
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

  it('from the CI service is drawn three times as large, with its words', async () => {
    const badge = await sandboxBadge()
    const [width, height] = [/width="(\d+)"/, /height="(\d+)"/].map((pattern) => Number(pattern.exec(badge)?.[1]))
    const picture = await drawn(badge)
    const [all, without] = [readPng(picture), await pixels(badge.replace(/<text[\s\S]*<\/text>/, ''))]
    expect([all.width, all.height]).toEqual([width! * PICTURE_SCALE, height! * PICTURE_SCALE])
    expect(difference(all, without, 0, 45)).toBeGreaterThan(0.05)
    expect(difference(all, without, 45, width!)).toBeGreaterThan(0.05)
  })

  it('shows Latin, Cyrillic and Greek letters, each with its own shape', async () => {
    const SCRIPTS = [
      ['build', 'guild'],
      ['сборка', 'вторка'],
      ['έτοιμο', 'έτοιβο'],
    ]
    const sheet = (which: number) => SCRIPTS.map((words, line) => text(words[which] ?? '', undefined, line)).join('')
    // All in one picture: each takes a process.
    const drawings = [0, 1, 2].map((which) => pixels(svg(RED + sheet(which), 'width="100" height="60"')))
    const [words, others, none] = await Promise.all(drawings)
    for (const line of SCRIPTS.keys()) {
      expect(difference(words!, none!, 4, 44, line)).toBeGreaterThan(0.05)
      expect(difference(words!, none!, 70, 100, line)).toBe(0)
      // A letter that the font lacks would be drawn as the same empty box as any other missing letter.
      expect(difference(words!, others!, 4, 44, line)).toBeGreaterThan(0.005)
    }
  })

  it('looks the same whatever font it names, except that bold text is bold', async () => {
    const asked = ['DejaVu Sans', 'Nowhere', 'serif', 'monospace'].map((font) => drawn(svg(text('passing', font))))
    const [first, ...others] = await Promise.all(asked)
    for (const other of others) expect(Buffer.compare(other, first!)).toBe(0)
    const bold = await drawn(svg(text('passing').replace('<text', '<text font-weight="bold"')))
    expect(Buffer.compare(bold, first!)).not.toBe(0)
  })

  it('has the colours of its SVG', async () => {
    const { rgba } = await pixels(svg(RED))
    expect([...rgba.subarray(0, 4)]).toEqual([255, 0, 0, 255])
    expect(new Set(rgba)).toEqual(new Set([255, 0]))
  })

  it('can be made from bytes as well as from text', async () => {
    const source = svg(RED + text('сборка'))
    const [one, other] = await Promise.all([drawn(source), drawn(new TextEncoder().encode(`\ufeff${source}`))])
    expect(Buffer.compare(one, other)).toBe(0)
  })

  it.each([
    ['100', '20', 300, 60],
    ['401', '20', PICTURE_WIDTH_PX_MAX, 60],
    ['2400', '40', PICTURE_WIDTH_PX_MAX, 20],
    ['20', '400', 20, PICTURE_HEIGHT_PX_MAX],
    ['1000000000', '1000000000', PICTURE_HEIGHT_PX_MAX, PICTURE_HEIGHT_PX_MAX],
  ])('of %s by %s is drawn as %i by %i', async (width, height, widthPx, heightPx) => {
    const picture = await pixels(svg(RED, `width="${width}" height="${height}"`))
    expect([picture.width, picture.height]).toEqual([widthPx, heightPx])
  })
})

describe('svgToPng', () => {
  it.each([
    ['an empty text', ''],
    ['a page', '<html><body>Not found</body></html>'],
    ['half an SVG', svg(RED).slice(0, -10)],
    ['an SVG without a width', svg(RED, 'width="0" height="20"')],
    ['an SVG with a width that is too large for a number', svg(RED, 'width="1e99" height="20"')],
  ])('makes no picture of %s', async (_, source) => {
    expect(await svgToPng(source, PATIENCE_MS)).toBeNull()
  })

  it.each([
    ['text in another encoding', Buffer.from(`\ufeff${svg(RED)}`, 'utf16le')],
    ['bytes that are a PNG already', Buffer.from('89504e470d0a1a0a', 'hex')],
  ])('makes no picture of %s', async (_, bytes) => {
    expect(await svgToPng(bytes)).toBeNull()
  })

  it('makes no picture of an SVG that takes longer than the time limit', async () => {
    // The rasteriser needs more than ten seconds to shape this text.
    const endless = svg(text('a'.repeat(SVG_BYTES_MAX - 1_000)))
    expect(await svgToPng(endless, 500)).toBeNull()
  })

  it('makes no picture of an SVG that makes the rasteriser abort, and only the drawing process ends', async () => {
    const wide = '<text font-size="1e35" stroke="red" stroke-width="1e38" opacity=".5">hello</text>'
    expect(await svgToPng(svg(wide), PATIENCE_MS)).toBeNull()
    expect(await svgToPng(svg(RED), PATIENCE_MS)).not.toBeNull()
  })
})

const nested = (tag: string, times: number): string => tag.repeat(times) + RED + '</g>'.repeat(times)
const LARGE = 'width="1200" height="400"'
const ENTITIES = Array.from({ length: 9 }, (_, i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`).join('')

/** Draws as `svgToPng` does: tells the peak memory of the process. */
async function drawDirectly(source: string | Uint8Array): Promise<number> {
  const child = spawn(process.execPath, [`--wasm-max-mem-pages=${PICTURE_PAGES_MAX}`, PROGRAM], {
    stdio: ['pipe', 'ignore', 'ignore'],
    timeout: 3_000,
    killSignal: 'SIGKILL',
  })
  child.stdin.on('error', () => {}).end(source)
  let residentMB = 0
  const looking = setInterval(() => (residentMB = Math.max(residentMB, peakMB(child.pid!))), 2)
  await once(child, 'close')
  clearInterval(looking)
  return residentMB
}

function peakMB(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024
  } catch {
    return 0
  }
}

const PROGRAM = fileURLToPath(new URL('../../../src/slack/picture/picture-process.ts', import.meta.url))

describe('an SVG that anybody may have written', () => {
  // Without the limit, some of them take gigabytes.
  it.each([
    ['a thousand groups with opacity', nested('<g opacity=".9">', 1_000)],
    ['a long text', text('a'.repeat(SVG_BYTES_MAX - 1_000))],
  ])('takes no more memory than its process may: %s', async (_, content) => {
    expect(await drawDirectly(svg(content, LARGE))).toBeLessThan(250)
  })

  it('takes no more memory than its process may: a hundred megabytes in a few', async () => {
    expect(await drawDirectly(gzipSync(svg(`<!--${'x'.repeat(100_000_000)}-->`)))).toBeLessThan(250)
  })

  it('takes no more memory than its process may: entities in entities', async () => {
    const doctype = `<!DOCTYPE svg [<!ENTITY a0 "aaaaaaaaaa">${ENTITIES}]>`
    expect(await drawDirectly(doctype + svg(text('&a9;')))).toBeLessThan(250)
  })

  it('shows nothing from a file or another server', async () => {
    let asked = 0
    const server = createServer((_, response) => response.end(void asked++))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    const red = join(mkdtempSync(join(tmpdir(), 'picture-')), 'red.png')
    writeFileSync(red, await drawn(svg(RED)))
    const blank = await drawn(svg(''))
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    for (const content of [
      ...[red, `file://${red}`, `${address}/red.png`].map((at) => `<image href="${at}" width="100" height="20"/>`),
      `<use href="${address}/x.svg#a"/>`,
      `<style>@import "${address}/x.css";</style>`,
    ])
      expect(Buffer.compare(await drawn(svg(content)), blank)).toBe(0)
    expect(
      await svgToPng(`<!DOCTYPE svg [<!ENTITY x SYSTEM "file://${red}">]>${svg(text('&x;'))}`, PATIENCE_MS),
    ).toBeNull()
    expect(asked).toBe(0)
  })

  it('is drawn by a program that imports nothing to read a file or an address with', () => {
    const wasm = readFileSync(fileURLToPath(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm')))
    const imports = WebAssembly.Module.imports(new WebAssembly.Module(wasm)).map(({ name }) => name)
    expect(imports.length).toBeGreaterThan(5)
    expect(
      imports.filter((name) => !/^__wb(?:indgen|g)_/.test(name) || /fetch|open|file|path|url|xml/i.test(name)),
    ).toEqual([])
  })

  it('is not drawn if it is too long', async () => {
    const filled = (bytes: number) =>
      svg(RED).replace('</svg>', `<!--${'x'.repeat(bytes - svg(RED).length - 7)}--></svg>`)
    expect(await svgToPng(filled(SVG_BYTES_MAX), PATIENCE_MS)).not.toBeNull()
    expect(await svgToPng(filled(SVG_BYTES_MAX + 1), PATIENCE_MS)).toBeNull()
  })

  it('svgToPng lets a limited number of pictures wait, draws one at a time, and refuses any further picture', async () => {
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

  it('svgToPng draws the next picture even if the process before it could not be started', async () => {
    expect(await svgToPng(svg(RED), Number.NaN)).toBeNull()
    expect(await svgToPng(svg(RED), PATIENCE_MS)).not.toBeNull()
  })
})

describe('isPicture', () => {
  const bytes = (head: string, encoding: BufferEncoding = 'latin1') => Buffer.from(head, encoding)
  const PNG = bytes('89504e470d0a1a0a0000000d49484452', 'hex')

  it.each([
    ['a PNG', PNG],
    ['a GIF', bytes('GIF89a....')],
    ['an older GIF', bytes('GIF87a....')],
    ['a JPEG', bytes('ffd8ffe000104a46', 'hex')],
  ])('recognises %s by its first bytes, whichever picture type it is declared as', (_, picture) => {
    for (const type of ['image/png', 'IMAGE/GIF; a=b', 'application/octet-stream', '', null])
      expect(isPicture(type, picture)).toBe(true)
    for (const type of ['text/html', 'application/json', 'application/octet-streams', 'x-image/png'])
      expect(isPicture(type, picture)).toBe(false)
  })

  it.each([
    ['no bytes', bytes('')],
    ['an SVG', bytes('<svg/>')],
    ['a page', bytes('<html>')],
    ['half of the signature', PNG.subarray(0, 7)],
    ['a PNG with a space before it', Buffer.concat([bytes(' '), PNG])],
    ['a GIF of an unknown version', bytes('GIF88a....')],
    ['a WebP, which Slack may not show', bytes('RIFF....WEBP')],
  ])('does not take %s for a picture', (_, other) => {
    expect(isPicture('image/png', other)).toBe(false)
  })
})
