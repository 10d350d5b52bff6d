import type { WebClient } from '@slack/web-api'
import { RESPONSE_URL_MS, type Interaction } from '../domain/interaction.ts'
import type { Clock } from '../lib/clock.ts'
import { classify } from '../slack/api/errors.ts'
import type { Left } from './unanswered.ts'
import { answerLeft } from './left-messages.ts'
import { directPlace, ephemeralPlace } from '../slack/reply-targets/message.ts'
import type { Place } from '../slack/reply-targets/place.ts'
import { responseUrlPlace } from '../slack/reply-targets/response-url.ts'
import { isSlackAddress } from '../slack/reply-targets/slack-address.ts'

/** An operator finds the log line by it: so many characters of the interaction's id. */
const REFERENCE_CHARS = 8

/**
 * Shows an asker that they were interrupted: where they asked, else directly. `unreachable`: Slack says that nothing will
 * ever reach them. Throws where it may work later.
 */
export async function showLeft(ways: Ways, left: Left): Promise<'shown' | 'unreachable'> {
  const { interaction } = left
  const answer = answerLeft(left, interaction.id.slice(0, REFERENCE_CHARS))
  const direct = directPlace(ways.client, interaction.user)
  const near = placeNear(ways, interaction)
  // Where it is not known whether it was shown, it is shown a second time rather than never.
  if (near && (await isShown(near.show(answer, false)))) return 'shown'
  try {
    await direct.show(answer, true)
    return 'shown'
  } catch (error) {
    const { kind } = classify(error)
    if (kind === 'channel-closed' || kind === 'refused') return 'unreachable'
    throw error
  }
}

interface Ways {
  client: WebClient
  clock: Clock
}

/** Where it was asked: through its own address while Slack takes answers there, else for the asker's eyes in the channel. */
function placeNear(
  { client, clock }: Ways,
  { user, channel, threadTs, responseUrl, receivedAt }: Interaction,
): Place | null {
  const spot = channel && { channel, threadTs }
  const ephemeral = spot && ephemeralPlace(client, user, spot)
  const isGood = responseUrl !== null && clock.now() - receivedAt < RESPONSE_URL_MS
  if (!isGood || !isSlackAddress(responseUrl, client.slackApiUrl)) return ephemeral
  return responseUrlPlace({ url: responseUrl, replaces: false, spot, clock, instead: ephemeral })
}

const isShown = (showing: Promise<void>): Promise<boolean> =>
  showing.then(
    () => true,
    () => false,
  )
