import type { WebClient } from '@slack/web-api'
import type { DigestView } from '../../domain/cards/view.ts'
import type { Log } from '../../lib/log.ts'
import { createClient, type ClientOptions } from '../api/client.ts'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import { joined, mention, outside } from '../messages/build.ts'
import { chartInWords } from '../messages/digest.ts'
import { TITLE_CHARS_MAX } from '../messages/limits.ts'
import type { Picture } from '../messages/answer.ts'
import type { Conversation } from '../reply-targets.ts'
import { chartToPng } from './picture.ts'

const TIMEOUT_MS = 10_000

/** Posts a picture in the channel or thread, with a mention of the requester. Throws if Slack does not take it. */
export async function showPicture(
  client: WebClient,
  picture: Picture,
  conversation: Conversation,
  by: string,
): Promise<void> {
  await uploadPicture(client, picture, {
    channel_id: conversation.channel,
    ...(conversation.threadTs ? { thread_ts: conversation.threadTs } : {}),
    // Others see the picture, but not the command.
    initial_comment: joined([outside(picture.alt, TITLE_CHARS_MAX), `requested by ${mention(by)}`]),
  })
}

/** Uploads a picture. @param to where to show it; left out: only messages that name its id show it. @returns the id */
async function uploadPicture(client: WebClient, { png, name, alt }: Picture, to: object = {}): Promise<string> {
  const ticket = await client.apiCall('files.getUploadURLExternal', {
    filename: name,
    length: png.byteLength,
    alt_txt: alt,
  })
  const url = textOf(fieldOf(ticket, 'upload_url'))
  const id = textOf(fieldOf(ticket, 'file_id'))
  if (url === null || id === null) throw new Error('Slack gave no upload address for the picture')
  await upload(url, png)
  await client.apiCall('files.completeUploadExternal', { files: [{ id, title: alt }], ...to })
  return id
}

async function upload(url: string, png: Uint8Array): Promise<void> {
  const status = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: new Uint8Array(png),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).then(
    async (response) => {
      await response.body?.cancel()
      return response.status
    },
    // The error of `fetch` is dropped: it may contain the address.
    () => null,
  )
  if (status !== 200) throw new Error(`the picture could not be sent: ${status ?? 'unreachable'}`)
}

/** A chart's data: builds and passed builds by day, and how long branches were red. */
export type Charted = Pick<DigestView, 'days' | 'red'>

/**
 * Draws a digest's chart and uploads it to Slack without a channel; a message shows it by its id, and until then it is
 * invisible. Null if that fails: the digest is posted without its chart.
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
