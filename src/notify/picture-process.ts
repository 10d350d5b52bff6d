import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Resvg, type ResvgRenderOptions } from '@resvg/resvg-js'
import { PICTURE_HEIGHT_PX_MAX, PICTURE_SCALE, PICTURE_WIDTH_PX_MAX } from './picture.ts'

// A program of its own, started for one picture: an SVG comes in, a PNG goes out. What cannot be drawn ends it early.

const FAMILY = 'DejaVu Sans'
const fontFiles = [
  import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
  import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'),
].map((url) => fileURLToPath(url))

// One font for every name: without the machine's own fonts a picture is the same everywhere.
const options: ResvgRenderOptions = {
  logLevel: 'off',
  font: {
    loadSystemFonts: false,
    fontFiles,
    defaultFontFamily: FAMILY,
    serifFamily: FAMILY,
    sansSerifFamily: FAMILY,
    monospaceFamily: FAMILY,
  },
}

const svg = await buffer(process.stdin)
const { width, height } = new Resvg(svg, options)
const value = Math.min(PICTURE_SCALE, PICTURE_WIDTH_PX_MAX / width, PICTURE_HEIGHT_PX_MAX / height)
process.stdout.write(new Resvg(svg, { ...options, fitTo: { mode: 'zoom', value } }).render().asPng())
