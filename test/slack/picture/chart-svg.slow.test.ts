import { expect, test } from 'vitest'
import { digestOf, NO_LISTS } from '../../../packages/demo/src/samples/digests.ts'
import { chartSvg } from '../../../src/slack/picture/chart-svg.ts'
import { chartToPng } from '../../../src/slack/picture/picture.ts'
import { readPng } from './png.ts'

const WHITE = [255, 255, 255, 255]

// The test starts a process, and the machine may be busy.
test(
  'a chart is a PNG on its own white background, with bars for passed and failed builds',
  { timeout: 30_000 },
  async () => {
    const { rgba, width, height } = readPng((await chartToPng(digestOf()))!)
    expect([width, height]).toEqual([1_280, 684])
    expect([...rgba.subarray(0, 4)]).toEqual(WHITE)
    const colours = new Set<string>()
    for (let at = 0; at < rgba.length; at += 4) colours.add(rgba.subarray(at, at + 3).join())
    for (const colour of ['46,182,125', '224,30,90', '18,100,163']) expect(colours).toContain(colour)
    for (let at = 3; at < rgba.length; at += 4 * width) expect(rgba[at]).toBe(255)
  },
)

test('a chart that shows only days is not as high', () => {
  const heightOf = (svg: string) => Number(/ height="(\d+)"/.exec(svg)?.[1])
  expect(heightOf(chartSvg(digestOf({ red: NO_LISTS })))).toBeLessThan(heightOf(chartSvg(digestOf())))
})

test('a name in a chart is plain text, whatever it contains, and its end is not cut off', () => {
  const name = '</text><script>x()</script>&\u0007\ud800{b|x}'
  const shown = [
    { project: name, branch: 'main', forMs: 1 },
    { project: 'acme/a-project-with-a-long-name', branch: 'main', forMs: 1 },
  ]
  const svg = chartSvg(digestOf({ red: { shown, more: 0 } }))
  const elements = new Set(Array.from(svg.matchAll(/<([a-z][^\s/>]*)/gi), ([, element]) => element!))
  for (const forbidden of ['\u0007', '\ud800']) expect(svg).not.toContain(forbidden)
  expect(
    [...elements].filter(
      (element) => !['svg', 'rect', 'path', 'g', 'text', 'defs', 'style', 'clipPath'].includes(element),
    ),
  ).toEqual([])
  expect(svg).toContain('>…oject-with-a-long-name main<')
})
