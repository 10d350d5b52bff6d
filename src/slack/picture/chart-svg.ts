import { BarChart, LineChart } from 'echarts/charts'
import { GridComponent, TitleComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import { toLine } from '../../lib/escape.ts'
import type { Charted } from './show.ts'

use([BarChart, LineChart, GridComponent, TitleComponent, SVGRenderer])

const WIDTH = 640
const DAYS_HEIGHT = 230
const RED_ROW_HEIGHT = 26
const RED_FRAME_HEIGHT = 60

// The chart has its own background, so that it is readable in Slack's dark and light themes.
const PAPER = '#ffffff'
const INK = '#1d1c1d'
const GREEN = '#2eb67d'
const RED = '#e01e5a'
const BLUE = '#1264a3'
const FAINT = '#dddddd'

const NAME_CHARS_MAX = 28
const MS_PER_H = 3_600_000

/** Above, builds and pass rate by day; below, how long branches were red. */
export function chartSvg({ days, red }: Charted): string {
  const rows = red.shown
  const redHeight = rows.length === 0 ? 0 : RED_FRAME_HEIGHT + rows.length * RED_ROW_HEIGHT
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: DAYS_HEIGHT + redHeight })
  const text = { color: INK, fontSize: 12 }
  const title = { textStyle: { ...text, fontSize: 13, fontWeight: 'bold' as const }, left: 12 }
  const axis = { axisLabel: text, axisTick: { show: false }, axisLine: { lineStyle: { color: FAINT } } }
  chart.setOption({
    animation: false,
    backgroundColor: PAPER,
    textStyle: { fontFamily: 'sans-serif' },
    title: [
      { ...title, text: 'Builds (green: passed, red: not) and pass rate in % (line)', top: 8 },
      ...(rows.length === 0 ? [] : [{ ...title, text: 'Hours red', top: DAYS_HEIGHT + 4 }]),
    ],
    grid: [
      { left: 50, right: 50, top: 42, height: DAYS_HEIGHT - 72 },
      { left: 220, right: 60, top: DAYS_HEIGHT + 30, height: rows.length * RED_ROW_HEIGHT },
    ],
    xAxis: [
      { ...axis, type: 'category', data: days.map(({ day }) => dayLabel(day)) },
      { ...axis, type: 'value', gridIndex: 1, show: false },
    ],
    yAxis: [
      { ...axis, type: 'value', minInterval: 1, splitLine: { lineStyle: { color: FAINT } } },
      { ...axis, type: 'value', min: 0, max: 100, splitLine: { show: false } },
      { ...axis, type: 'category', gridIndex: 1, inverse: true, data: rows.map(rowLabel) },
    ],
    series: [
      { type: 'bar', stack: 'builds', color: GREEN, barMaxWidth: 40, data: days.map(({ passed }) => passed) },
      {
        type: 'bar',
        stack: 'builds',
        color: RED,
        barMaxWidth: 40,
        data: days.map(({ builds, passed }) => builds - passed),
      },
      { type: 'line', yAxisIndex: 1, color: BLUE, symbolSize: 6, connectNulls: true, data: days.map(rateOf) },
      {
        type: 'bar',
        xAxisIndex: 1,
        yAxisIndex: 2,
        color: RED,
        barMaxWidth: 16,
        label: { show: true, position: 'right', ...text },
        data: rows.map(({ forMs }) => Math.round((10 * forMs) / MS_PER_H) / 10),
      },
    ],
  })
  const svg = chart.renderToSVGString()
  chart.dispose()
  return svg
}

const rateOf = ({ builds, passed }: Charted['days'][number]): number | null =>
  builds === 0 ? null : Math.round((100 * passed) / builds)

const DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', timeZone: 'UTC' })

const dayLabel = (day: string): string => DAY.format(new Date(day))

/** Cuts the beginning: branches differ at the end of the name. */
function rowLabel({ project, branch }: Charted['red']['shown'][number]): string {
  // Control characters are not allowed in XML.
  const points = Array.from(toLine(`${project} ${branch}`))
  return points.length <= NAME_CHARS_MAX ? points.join('') : `…${points.slice(1 - NAME_CHARS_MAX).join('')}`
}
