import type { Acknowledgement } from '../acknowledgement.ts'
import { getChannel, getUser } from '../acts.ts'
import { parseObject } from '../http.ts'
import { Refusal } from '../methods/call.ts'
import { commandFields } from '../payloads.ts'
import { respond } from '../response-urls.ts'
import type { Origin } from '../response-urls.ts'
import type { Workspace } from '../workspace.ts'
import { ask, FORM } from './parts.ts'
import type { PeopleParts } from './parts.ts'

export async function runCommand(
  parts: PeopleParts,
  words: { user: string; channel: string; command: string; text?: string },
): Promise<Acknowledgement> {
  const { workspace, sender } = parts
  const { command, text = '' } = words
  const origin = { channelId: words.channel, userId: words.user }
  const user = getUser(workspace, words.user)
  const channel = getChannel(workspace, words.channel)
  const fields = commandFields(workspace, { user, channel, command, text, ...ask(parts, origin) })
  const body = new URLSearchParams(fields).toString()
  const envelope = { type: 'slash_commands', payload: fields } as const
  const acknowledgement = await sender.send({ what: `command ${command}`, contentType: FORM, body, envelope })
  return answerInAck(workspace, origin, acknowledgement)
}

/** Posts the body of a command's acknowledgement, JSON or plain text, as the bot's first reply. */
function answerInAck(workspace: Workspace, origin: Origin, acknowledgement: Acknowledgement): Acknowledgement {
  if (acknowledgement.kind !== 'answered' || acknowledgement.status !== 200) return acknowledgement
  const { body } = acknowledgement
  if (body.trim() === '') return acknowledgement
  try {
    respond(workspace, origin, parseObject(body) ?? { text: body })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    acknowledgement.refusal = error.code
  }
  return acknowledgement
}
