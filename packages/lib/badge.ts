import { escapeXml } from './markup.ts'

export interface Look {
  word: string
  color: string
}

export const GREY = '#9f9f9f'

const HEIGHT_PX = 20
const CHARACTER_PX = 7
const PADDING_PX = 10

/** Draws a badge as SVG with two fields: a label, and the state as a coloured word. */
export function drawBadge(label: string, { word, color }: Look): string {
  const labelPx = label.length * CHARACTER_PX + PADDING_PX
  const wordPx = word.length * CHARACTER_PX + PADDING_PX
  const title = escapeXml(`${label}: ${word}`)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${labelPx + wordPx}" height="${HEIGHT_PX}" role="img" aria-label="${title}">`,
    `<title>${title}</title>`,
    `<rect width="${labelPx}" height="${HEIGHT_PX}" fill="#444"/>`,
    `<rect x="${labelPx}" width="${wordPx}" height="${HEIGHT_PX}" fill="${color}"/>`,
    '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">',
    `<text x="${labelPx / 2}" y="14">${escapeXml(label)}</text>`,
    `<text x="${labelPx + wordPx / 2}" y="14">${escapeXml(word)}</text>`,
    '</g></svg>',
  ].join('')
}
