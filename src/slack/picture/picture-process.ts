import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { initWasm, Resvg, type ResvgRenderOptions } from '@resvg/resvg-wasm'
import { CHART, CHART_SCALE, PICTURE_HEIGHT_PX_MAX, PICTURE_SCALE, PICTURE_WIDTH_PX_MAX } from './picture.ts'

// A separate program, started for each picture. It reads an SVG, or a chart's data as JSON, and writes a PNG. It fails
// if it cannot draw the picture.

const bytesOf = (url: string): Promise<Uint8Array> => readFile(new URL(url))

const [given, rasteriser, ...fontBuffers] = await Promise.all([
  buffer(process.stdin),
  bytesOf(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm')),
  bytesOf(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')),
  bytesOf(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf')),
])
await initWasm(rasteriser)

// The bundled font replaces every family, so that a picture looks the same on every machine.
const FAMILY = 'DejaVu Sans'
const options: ResvgRenderOptions = {
  font: {
    fontBuffers,
    defaultFontFamily: FAMILY,
    serifFamily: FAMILY,
    sansSerifFamily: FAMILY,
    monospaceFamily: FAMILY,
  },
}

const isChart = process.argv[2] === CHART
// The chart library is large, so only this process loads it.
const svg = isChart ? (await import('./chart-svg.ts')).chartSvg(JSON.parse(given.toString('utf8'))) : given

const { width, height } = new Resvg(svg, options)
const value = isChart
  ? CHART_SCALE
  : Math.min(PICTURE_SCALE, PICTURE_WIDTH_PX_MAX / width, PICTURE_HEIGHT_PX_MAX / height)
process.stdout.write(new Resvg(svg, { ...options, fitTo: { mode: 'zoom', value } }).render().asPng())
