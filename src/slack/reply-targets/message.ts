import type { WebClient } from '@slack/web-api'
import type { Answer } from '../messages/answer.ts'
import { contentOf, isContentRefusal, slackCodeOf, withoutBlocks, type Place, type Spot } from './place.ts'

/** A message in a channel or a thread that only this person sees. */
export const ephemeralPlace = (client: WebClient, user: string, spot: Spot): Place => ({
  spot,
  show: (answer) =>
    post(client, 'chat.postEphemeral', answer, {
      channel: spot.channel,
      user,
      ...(spot.threadTs ? { thread_ts: spot.threadTs } : {}),
    }),
})

/** A direct message: where neither a channel nor a modal is there to answer in. */
export const directPlace = (client: WebClient, user: string): Place => ({
  spot: null,
  show: (answer) => post(client, 'chat.postMessage', answer, { channel: user }),
})

async function post(client: WebClient, method: string, answer: Answer, where: Record<string, string>): Promise<void> {
  const fixed = { ...where, parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false }
  try {
    await client.apiCall(method, { ...fixed, ...contentOf(answer) })
  } catch (error) {
    if (!isContentRefusal(slackCodeOf(error))) throw error
    await client.apiCall(method, { ...fixed, ...contentOf(withoutBlocks(answer)) })
  }
}
