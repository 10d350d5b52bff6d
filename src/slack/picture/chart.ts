import type { DigestView } from '../../domain/view.ts'
import type { Log } from '../../lib/log.ts'
import { createClient, type ClientOptions } from '../api/client.ts'
import { chartInWords } from '../messages/digest.ts'
import { chartToPng } from './picture.ts'
import { uploadPicture } from './show.ts'

/** A chart's data: builds and passed builds by day, and how long branches were red. */
export type Charted = Pick<DigestView, 'days' | 'red'>

/**
 * Draws a digest's chart and uploads it to Slack without a channel; the message shows it by its id, and without a message
 * nobody sees it. Null if that fails: the digest is posted without its chart.
 */
export function createChart({ log, ...options }: ClientOptions & { log: Log }) {
  const client = createClient(options)
  return async (view: DigestView): Promise<string | null> => {
    const { days, red } = view
    const png = await chartToPng({ days, red } satisfies Charted)
    if (png === null) {
      log.warn({}, 'the chart of a digest could not be drawn; it is posted without')
      return null
    }
    try {
      return await uploadPicture(client, { png, name: `builds-${view.lastDay}.png`, alt: chartInWords(view) })
    } catch (error) {
      log.warn({ err: error }, 'Slack did not take the chart of a digest; it is posted without')
      return null
    }
  }
}
